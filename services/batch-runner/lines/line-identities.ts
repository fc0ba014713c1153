import { LRUCache } from 'lru-cache';
import { identityOfKey, isUsable, type FoundKey, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { identityOfPerson, personOfIdentity } from '#shared/accounts/people/person-identity.ts';
import {
  findServiceAccount,
  identityOfService,
  identityOfTeam,
  serviceOfIdentity,
  teamOfIdentity,
} from '#shared/accounts/token-issuers/service-identity.ts';
import type { AcceptedIssuer } from '#shared/accounts/token-issuers/token-issuer.ts';
import type { TeamStore } from '#shared/accounts/people/team-store.ts';
import { isShutOut } from '#shared/accounts/people/user.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';

/** Milliseconds after which a key is read again, should an announcement be lost. */
const freshMs = 10_000;

/** Keys that are known at once. */
const maxKnown = 1_000;

export interface LineIdentitiesParts {
  keys: Pick<KeyStore, 'find'>;
  users: Pick<UserStore, 'find'>;
  teams: Pick<TeamStore, 'find' | 'membersOf'>;
  /** Issuers of tokens, whose rules say what the service accounts may do. */
  issuers: () => readonly Pick<AcceptedIssuer, 'rules'>[];
  /** The class that all have; that of the key, and `normal` for people, if undefined. */
  class: PriorityClass | undefined;
}

/** Successors of a key that are followed. */
const maxSuccessors = 100;

/**
 * The identities that work in the background is served with: those of the keys, or the people, that asked for it, as they are now. A key
 * that has expired because it was rotated stands for its successor.
 */
export class LineIdentities {
  readonly #parts: LineIdentitiesParts;
  readonly #known = new LRUCache<string, { identity: KeyIdentity | undefined }>({ max: maxKnown, ttl: freshMs });
  /** Counts the changes: what was read before one may be what was before it. */
  #generation = 0;

  constructor(parts: LineIdentitiesParts) {
    this.#parts = parts;
  }

  /**
   * The identity of a key, a session or a workload by its id; undefined if it may not be used any more.
   * @throws RouterError `store_unavailable`
   */
  async find(id: string): Promise<KeyIdentity | undefined> {
    const known = this.#known.get(id);
    if (known) return known.identity;
    const generation = this.#generation;
    const identity = await this.#look(id);
    if (generation === this.#generation) this.#known.set(id, { identity });
    return identity;
  }

  /** Has all of them read again: one has changed. */
  forget(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  async #look(id: string): Promise<KeyIdentity | undefined> {
    const person = personOfIdentity(id);
    if (person) return this.#ofPerson(person);
    const teamId = teamOfIdentity(id);
    if (teamId !== undefined) return this.#ofTeam(teamId);
    const service = serviceOfIdentity(id);
    return service === undefined ? this.#ofKey(id) : this.#ofService(service);
  }

  async #ofTeam(teamId: string): Promise<KeyIdentity | undefined> {
    const team = await this.#parts.teams.find(teamId);
    return team && identityOfTeam(team, this.#parts.class);
  }

  #ofService(name: string): KeyIdentity | undefined {
    const account = findServiceAccount(this.#parts.issuers(), name);
    return account && identityOfService({ ...account, class: this.#parts.class ?? account.class });
  }

  async #ofKey(id: string): Promise<KeyIdentity | undefined> {
    const found = await this.#usable(id);
    if (!found) return undefined;
    return identityOfKey(found, this.#parts.class);
  }

  /**
   * The key, or the one that has taken its place and stores for the same owner. One without owner has no successor: what it asked for belongs
   * to itself.
   */
  async #usable(id: string): Promise<FoundKey | undefined> {
    let next: string | undefined = id;
    let before: FoundKey | undefined;
    for (let count = 0; next !== undefined && count <= maxSuccessors; count += 1) {
      const found = await this.#parts.keys.find(next);
      if (before && found?.storesAs !== before.storesAs) return undefined;
      if (!found || isUsable(found, Date.now())) return found;
      before = found;
      next = found.revokedAt === undefined && found.ownerId !== undefined ? found.replacedBy : undefined;
    }
    return undefined;
  }

  /** Of a person; for a team's account, only while they are in the team. */
  async #ofPerson({
    userId,
    teamId,
  }: {
    userId: string;
    teamId: string | undefined;
  }): Promise<KeyIdentity | undefined> {
    const { users, teams, class: priority } = this.#parts;
    const user = await users.find(userId);
    if (!user || isShutOut(user)) return undefined;
    if (teamId === undefined) return identityOfPerson(user, undefined, priority);
    const [team, members] = await Promise.all([teams.find(teamId), teams.membersOf(teamId)]);
    return team && members.has(userId) ? identityOfPerson(user, team, priority) : undefined;
  }
}
