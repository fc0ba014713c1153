import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '../../keys/key-record.ts';
import type { ExternalAccounts, ExternalSubject } from '../external-accounts/external-accounts.ts';
import { createPersonIdentity } from '../../people/person-identity.ts';
import type { TeamStore } from '../../people/team-store.ts';
import { emailSchema, mayLinkByEmail, isShutOut, type UserRecord } from '../../people/user.ts';
import type { UserStore } from '../../people/user-store.ts';
import { ReadThroughCache } from '#shared/store/redis/read-through-cache.ts';
import { createTeamIdentity } from './service-identity.ts';

export interface PartyIdentitiesDependencies {
  users: Pick<UserStore, 'find' | 'findByEmail' | 'noteEmail'>;
  externals: Pick<ExternalAccounts, 'findPerson'>;
  teams: Pick<TeamStore, 'list'>;
  /** Throws while the store is lost, because a missing person or team may then exist. */
  store: { assertIntact(): void };
}

/** Milliseconds for which an identity is cached. */
const freshMs = 30_000;
/** Maximum age, in milliseconds, of an identity that is used while Redis is unavailable. */
const graceMs = 3_600_000;
/** Milliseconds for which a refusal is cached. */
const refusalMs = 1_000;

/**
 * The account that a token stands for: a person, found by the e-mail address (`person`) or by the account at a provider (`account`), or a
 * team, found by its name or id.
 */
export type TokenAccount =
  | { kind: 'person' | 'team'; name: string }
  | { kind: 'account'; name: string; account: ExternalSubject };

interface ReadIdentity {
  /** `user:<id>` or `team:<id>`; undefined if there is no such account. */
  party: string | undefined;
  outcome: KeyIdentity | RouterError;
}

/**
 * The identities of people and teams with their limits, from Redis. They are cached like keys: for 30 seconds or until a change is
 * published, and for an hour while Redis is unavailable.
 */
export class PartyIdentities {
  readonly #dependencies: PartyIdentitiesDependencies;
  readonly #cache = new ReadThroughCache<KeyIdentity | RouterError, TokenAccount>({
    noun: 'accounts',
    graceMs,
    read: async (account) => {
      const { party, outcome } = await this.#readAccount(account);
      const dependsOn = party === undefined ? [] : [party];
      const isAccepted = !(outcome instanceof RouterError);
      return { value: outcome, freshMs: isAccepted ? freshMs : refusalMs, isAccepted, dependsOn };
    },
  });

  constructor(dependencies: PartyIdentitiesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the identity of a person or a team: at once if it is known, else as a promise.
   * @throws RouterError `permission_denied` for a party that is blocked, refused by its provider or unknown; `store_unavailable`;
   * `overloaded` when a change was published in every round
   */
  find(account: TokenAccount): KeyIdentity | Promise<KeyIdentity> {
    const found = this.#cache.find(`${account.kind} ${account.name}`, account);
    return found instanceof Promise ? found.then(getIdentity) : getIdentity(found);
  }

  /** Removes an account from memory because of a published change. */
  drop(changed: string): void {
    this.#cache.drop(changed);
  }

  /** Marks all identities as outdated, because published changes may have been missed. They are read again at their next use. */
  markStale(): void {
    this.#cache.markStale();
  }

  async #readAccount(party: TokenAccount): Promise<ReadIdentity> {
    const { users } = this.#dependencies;
    switch (party.kind) {
      case 'person': {
        const hint = `No account has the address ${party.name}. Ask an administrator of the router to invite you.`;
        const email = emailSchema.safeParse(party.name).data;
        const user = email === undefined ? undefined : await users.findByEmail(email);
        if (user && !mayLinkByEmail(user))
          return { party: `user:${user.id}`, outcome: deniedError(explainUnconfirmed(party.name)) };
        // The token counts as the first sign-in of the person, so that nobody else gets access by changing the address of the account.
        if (user && user.usedEmail === undefined) await users.noteEmail(user.id, user.email, { used: true });
        return this.#toPersonIdentity(user, hint);
      }
      case 'account': {
        const id = await this.#dependencies.externals.findPerson(party.account);
        const hint = `No account belongs to the subject \`${party.account.subject}\`. Sign in to the console of the router once.`;
        return this.#toPersonIdentity(id === undefined ? undefined : await users.find(id), hint);
      }
      case 'team':
        return this.#readTeam(party.name);
    }
  }

  #toPersonIdentity(user: UserRecord | undefined, hint: string): ReadIdentity {
    if (!user) {
      this.#dependencies.store.assertIntact();
      return toUnknownIdentity(hint);
    }
    const party = `user:${user.id}`;
    return { party, outcome: isShutOut(user) ? deniedError(explainShutOut(user)) : createPersonIdentity(user) };
  }

  async #readTeam(teamName: string): Promise<ReadIdentity> {
    const teams = await this.#dependencies.teams.list();
    const byId = teams.filter(({ id }) => id === teamName);
    const [team, another] = byId.length > 0 ? byId : teams.filter(({ name }) => name === teamName);
    if (!team) {
      this.#dependencies.store.assertIntact();
      return toUnknownIdentity(`The team ${teamName}, which the rule for this token names, does not exist.`);
    }
    if (another)
      return toUnknownIdentity(
        `Several teams are called ${teamName}: the rule for this token must name one by its id.`,
      );
    return { party: `team:${team.id}`, outcome: createTeamIdentity(team) };
  }
}

function getIdentity(outcome: KeyIdentity | RouterError): KeyIdentity {
  if (outcome instanceof RouterError) throw new RouterError(outcome.code, outcome.message);
  return outcome;
}

function explainShutOut({ blockedAt }: UserRecord): string {
  return blockedAt === undefined
    ? 'Your identity provider does not let you in any more. Sign in to the console of the router again.'
    : 'Your account is blocked. Ask an administrator of the router to unblock it.';
}

function explainUnconfirmed(email: string): string {
  return `It is not confirmed that the account with the address ${email} is yours. Sign in to the console of the router once, and ask an administrator to confirm your address.`;
}

function toUnknownIdentity(message: string): ReadIdentity {
  return { party: undefined, outcome: deniedError(message) };
}

function deniedError(message: string): RouterError {
  return new RouterError('permission_denied', message);
}
