import { LRUCache } from 'lru-cache';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '../keys/key-record.ts';
import type { ExternalAccounts, ExternalSubject } from '../external-accounts/external-accounts.ts';
import { identityOfPerson } from '../people/person-identity.ts';
import type { TeamStore } from '../people/team-store.ts';
import { emailSchema, mayLinkByEmail, isShutOut, type UserRecord } from '../people/user.ts';
import type { UserStore } from '../people/user-store.ts';
import { UnreadableRecordError } from '../redis/stored-records.ts';
import { identityOfTeam } from './service-identity.ts';

export interface PartyIdentitiesDependencies {
  users: Pick<UserStore, 'find' | 'findByEmail' | 'noteEmail'>;
  externals: Pick<ExternalAccounts, 'findPerson'>;
  teams: Pick<TeamStore, 'list'>;
  /** Throws while the store is lost, because then a person or team that is missing in it may exist. */
  store: { assertIntact(): void };
}

const freshMs = 30_000;
const graceMs = 3_600_000;
const storeRetryMs = 1_000;
const refusalMs = 1_000;

const maxKnown = 10_000;

/** Maximum of rounds in which a record is read. A further round begins when a change was published during the last round. */
const maxRounds = 10;

/**
 * The account for which a token stands: a person found by an e-mail address, a person found by an account at a provider, or a team found by
 * its name or id.
 */
export type TokenAccount =
  | { kind: 'person' | 'team'; name: string }
  | { kind: 'account'; name: string; account: ExternalSubject };

interface ReadIdentity {
  /** `user:<id>` or `team:<id>`; undefined if there is no such account. */
  party: string | undefined;
  outcome: KeyIdentity | RouterError;
}

interface KnownIdentity extends ReadIdentity {
  /** When the account was read, in ms of performance.now(). */
  readAt: number;
  /** When the account must be read again, in ms of performance.now(). */
  trustedUntil: number;
}

/**
 * The identities of people and teams with their limits, from Redis. They are cached in the same way as keys: for 30 seconds or until a
 * change is published, and for an hour while Redis is unavailable.
 */
export class PartyIdentities {
  readonly #dependencies: PartyIdentitiesDependencies;
  readonly #known = new LRUCache<string, KnownIdentity>({ max: maxKnown });
  readonly #reads = new Map<string, Promise<KnownIdentity>>();
  /** Counts the published changes. An account that was read before the last change must be read again. */
  #generation = 0;

  constructor(dependencies: PartyIdentitiesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the identity of a person or a team: at once if it is known, else as a promise.
   * @throws RouterError `permission_denied` for a party that is blocked, refused by its provider or unknown; `store_unavailable`;
   * `overloaded` when changes are published all the time
   */
  find(party: TokenAccount): KeyIdentity | Promise<KeyIdentity> {
    const name = `${party.kind} ${party.name}`;
    const known = this.#known.get(name);
    return known && performance.now() < known.trustedUntil ? getIdentity(known) : this.#readShared(name, party);
  }

  /** Removes an account from memory because of a published change. */
  drop(changed: string): void {
    this.#generation += 1;
    for (const [name, { party }] of this.#known.entries()) {
      if (party === changed || party === undefined) this.#known.delete(name);
    }
  }

  /** Makes the next use of every identity read it again, because published changes may have been missed. */
  markStale(): void {
    this.#generation += 1;
    this.#known.forEach((known) => {
      known.trustedUntil = 0;
    });
  }

  async #readShared(name: string, party: TokenAccount): Promise<KeyIdentity> {
    let reading = this.#reads.get(name);
    if (!reading) {
      reading = this.#readIdentity(name, party).finally(() => this.#reads.delete(name));
      this.#reads.set(name, reading);
    }
    return getIdentity(await reading);
  }

  async #readIdentity(name: string, party: TokenAccount): Promise<KnownIdentity> {
    for (let round = 0; round < maxRounds; round++) {
      const generation = this.#generation;
      const now = performance.now();
      let found: ReadIdentity;
      try {
        found = await this.#read(party);
      } catch (error) {
        const isAway = error instanceof RouterError && !(error instanceof UnreadableRecordError);
        const known = this.#known.get(name);
        if (!isAway || error.code !== 'store_unavailable' || !known || now - known.readAt >= graceMs) throw error;
        known.trustedUntil = performance.now() + storeRetryMs;
        return known;
      }
      if (generation !== this.#generation) continue;
      const keptMs = found.outcome instanceof RouterError ? refusalMs : freshMs;
      const known = { ...found, readAt: now, trustedUntil: now + keptMs };
      this.#known.set(name, known);
      return known;
    }
    throw new RouterError('overloaded', 'Accounts are being changed. Please try again soon.', { retryAfter: 2 });
  }

  async #read(party: TokenAccount): Promise<ReadIdentity> {
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
        return this.#person(user, hint);
      }
      case 'account': {
        const id = await this.#dependencies.externals.findPerson(party.account);
        const hint = `No account belongs to the subject \`${party.account.subject}\`. Sign in to the console of the router once.`;
        return this.#person(id === undefined ? undefined : await users.find(id), hint);
      }
      case 'team':
        return this.#team(party.name);
    }
  }

  #person(user: UserRecord | undefined, hint: string): ReadIdentity {
    if (!user) {
      this.#dependencies.store.assertIntact();
      return toUnknown(hint);
    }
    const party = `user:${user.id}`;
    return { party, outcome: isShutOut(user) ? deniedError(explainShutOut(user)) : identityOfPerson(user) };
  }

  async #team(teamName: string): Promise<ReadIdentity> {
    const teams = await this.#dependencies.teams.list();
    const byId = teams.filter(({ id }) => id === teamName);
    const [team, another] = byId.length > 0 ? byId : teams.filter(({ name }) => name === teamName);
    if (!team) {
      this.#dependencies.store.assertIntact();
      return toUnknown(`The team ${teamName}, which the rule for this token names, does not exist.`);
    }
    if (another)
      return toUnknown(`Several teams are called ${teamName}: the rule for this token must name one by its id.`);
    return { party: `team:${team.id}`, outcome: identityOfTeam(team) };
  }
}

function getIdentity({ outcome }: ReadIdentity): KeyIdentity {
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

function toUnknown(message: string): ReadIdentity {
  return { party: undefined, outcome: deniedError(message) };
}

function deniedError(message: string): RouterError {
  return new RouterError('permission_denied', message);
}
