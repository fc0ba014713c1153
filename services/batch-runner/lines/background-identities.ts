import { createKeyIdentity, isUsable, type FoundKey, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { onKeyChange } from '#shared/broker/contract/change-signals.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { createPersonIdentity, parsePersonIdentity } from '#shared/accounts/people/person-identity.ts';
import {
  findServiceAccount,
  createServiceIdentity,
  createTeamIdentity,
  parseServiceName,
  parseTeamId,
} from '#shared/accounts/sign-in/token-issuers/service-identity.ts';
import { ReadThroughCache } from '#shared/store/redis/read-through-cache.ts';
import type { AcceptedIssuer } from '#shared/accounts/sign-in/token-issuers/token-issuer.ts';
import type { TeamStore } from '#shared/accounts/people/team-store.ts';
import { isShutOut } from '#shared/accounts/people/user.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';
import type { RunnerContext } from '../context.ts';

/** Milliseconds after which a cached identity is read again, in case the notice of a change is lost. */
const freshMs = 10_000;

export interface BackgroundIdentitiesParts {
  keys: Pick<KeyStore, 'find'>;
  users: Pick<UserStore, 'find'>;
  teams: Pick<TeamStore, 'find' | 'membersOf'>;
  /** Issuers of tokens; their rules define the permissions of service accounts. */
  issuers: () => readonly Pick<AcceptedIssuer, 'rules'>[];
  /** Priority class of all identities; if undefined, the class of the key, and `normal` for people. */
  class: PriorityClass | undefined;
}

/** Largest number of successors of a key that are followed. */
const maxSuccessors = 100;

/**
 * Finds the identities for work in the background, by the current state of the key or the person that created the work. For a rotated key
 * that has expired, the successor of the key is used.
 */
export class BackgroundIdentities {
  readonly #parts: BackgroundIdentitiesParts;
  readonly #cache = new ReadThroughCache<KeyIdentity | undefined>({
    noun: 'identities',
    read: async (id) => {
      const identity = await this.#read(id);
      return { value: identity, freshMs, isAccepted: identity !== undefined };
    },
  });

  constructor(parts: BackgroundIdentitiesParts) {
    this.#parts = parts;
  }

  /**
   * Returns the identity of a key, a sign-in session or a workload by its id; undefined if the identity may no longer be used.
   * @throws RouterError `store_unavailable`; `overloaded` when a change was announced in every round of the read
   */
  async find(id: string): Promise<KeyIdentity | undefined> {
    return this.#cache.find(id, id);
  }

  /** Makes the next use of every identity read it again after a change, because the identity of a key depends on its successors, too. */
  markStale(): void {
    this.#cache.markStale();
  }

  async #read(id: string): Promise<KeyIdentity | undefined> {
    const person = parsePersonIdentity(id);
    if (person) return this.#findPersonIdentity(person);
    const teamId = parseTeamId(id);
    if (teamId !== undefined) return this.#findTeamIdentity(teamId);
    const service = parseServiceName(id);
    return service === undefined ? this.#findKeyIdentity(id) : this.#findServiceIdentity(service);
  }

  async #findTeamIdentity(teamId: string): Promise<KeyIdentity | undefined> {
    const team = await this.#parts.teams.find(teamId);
    return team && createTeamIdentity(team, this.#parts.class);
  }

  #findServiceIdentity(name: string): KeyIdentity | undefined {
    const account = findServiceAccount(this.#parts.issuers(), name);
    return account && createServiceIdentity({ ...account, class: this.#parts.class ?? account.class });
  }

  async #findKeyIdentity(id: string): Promise<KeyIdentity | undefined> {
    const found = await this.#findUsableKey(id);
    if (!found) return undefined;
    return createKeyIdentity(found, this.#parts.class);
  }

  /**
   * Returns the key if it is usable, otherwise its first usable successor. A successor must store for the same owner as the key. A key
   * without an owner has no successor, because its files and responses belong to the key itself.
   */
  async #findUsableKey(id: string): Promise<FoundKey | undefined> {
    let nextId: string | undefined = id;
    let previous: FoundKey | undefined;
    for (let count = 0; nextId !== undefined && count <= maxSuccessors; count += 1) {
      const found = await this.#parts.keys.find(nextId);
      if (previous && found?.storesAs !== previous.storesAs) return undefined;
      if (!found || isUsable(found, Date.now())) return found;
      previous = found;
      nextId = found.revokedAt === undefined && found.ownerId !== undefined ? found.replacedBy : undefined;
    }
    return undefined;
  }

  /** Returns the identity of a person; for a team's account, only while the person is in the team. */
  async #findPersonIdentity({
    userId,
    teamId,
  }: {
    userId: string;
    teamId: string | undefined;
  }): Promise<KeyIdentity | undefined> {
    const { users, teams, class: priority } = this.#parts;
    const user = await users.find(userId);
    if (!user || isShutOut(user)) return undefined;
    if (teamId === undefined) return createPersonIdentity(user, undefined, priority);
    const [team, members] = await Promise.all([teams.find(teamId), teams.membersOf(teamId)]);
    return team && members.has(userId) ? createPersonIdentity(user, team, priority) : undefined;
  }
}

/**
 * Opens the identities for work of this runner. Changes of keys, people and teams apply at once.
 * @param priority priority class of all identities, see `BackgroundIdentitiesParts`
 */
export function openIdentities(
  { serving: { accounts, broker, registry } }: RunnerContext,
  priority?: PriorityClass,
): BackgroundIdentities {
  const { keys, users, teams } = accounts;
  const issuers = () => registry.current().token_issuers;
  const identities = new BackgroundIdentities({ keys, users, teams, issuers, class: priority });
  onKeyChange(broker, () => identities.markStale());
  return identities;
}
