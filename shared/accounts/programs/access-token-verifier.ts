import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '../keys/key-record.ts';
import type { TeamStore } from '../people/team-store.ts';
import { isSignedIn } from '../people/user.ts';
import type { UserStore } from '../people/user-store.ts';
import { createPersonIdentity, type IdentityParty } from '../people/person-identity.ts';
import { UnreadableRecordError } from '../redis/stored-records.ts';
import { acceptedMs, clockToleranceMs, readAccessToken, type AccessClaims } from './access-tokens.ts';
import type { ProgramStore } from './program-store.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Maximum of tokens in memory. Also the maximum of changed people and teams in memory. */
const maxKnown = 10_000;

/** A token that is verified while the store is unavailable is verified again after this many milliseconds. */
const storeRetryMs = 1_000;

/** Maximum of rounds in which a token is verified. A change that is published during a round makes a further round necessary. */
const maxRounds = 10;

export interface AccessTokenVerifierDependencies {
  keys: Pick<SigningKeys, 'find'>;
  users: Pick<UserStore, 'find'>;
  teams: Pick<TeamStore, 'find' | 'membersOf'>;
  programs: Pick<ProgramStore, 'listSignedOut'>;
}

interface KnownToken {
  identity: KeyIdentity;
  programId: string;
  /** `user:<id>`, and `team:<id>` if the token is for a team. */
  parties: readonly string[];
  /** In ms since 1970. */
  expiresAt: number;
  /** When the token must be verified again, in ms since 1970. */
  trustedUntil: number;
}

interface VerifiedIdentity {
  identity: KeyIdentity;
  /** False if a change may have been missed, and the store could not be read. */
  isCertain: boolean;
}

/**
 * Verifies access tokens and returns their identities. A token in use is verified from memory. For a new token, the signature is verified,
 * and the claims about the person and the team are used without reading the store. If the person or the team may have changed since the
 * token was made, both are read from the store. While the store is unavailable, the claims count, and the token is verified again every
 * second.
 */
export class AccessTokenVerifier {
  readonly #dependencies: AccessTokenVerifierDependencies;
  readonly #known = new LRUCache<string, KnownToken>({ max: maxKnown });
  /** When the last change of a person or a team was published, in ms since 1970, by `user:<id>` or `team:<id>`. */
  readonly #changes = new LRUCache<string, number>({
    max: maxKnown,
    ttl: acceptedMs,
    // The dropped change may concern any token that was made before now.
    dispose: (_at, _changed, reason) => {
      if (reason === 'evict') this.#changesKnownSince = Date.now();
    },
  });
  /** Ids of signed-out programs. The number is not bounded, so that no id is dropped early; the store does not bound it either. */
  readonly #signedOut = new LRUCache<string, true>({ ttl: acceptedMs, ttlAutopurge: true });
  /** Changes before this time, in ms since 1970, may have been missed or dropped. */
  #changesKnownSince = Date.now();
  /** Whether the list of signed-out programs was read since a person was last changed, and since `markStale` was last called. */
  #hasSignedOutList = false;
  #listReading: Promise<void> | undefined;
  /** Counts the published changes. A verification is repeated if a change is published during it. */
  #generation = 0;

  constructor(dependencies: AccessTokenVerifierDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the identity of a token: at once for a token in use, else as a promise. Throws, or rejects with, RouterError `invalid_api_key`;
   * `store_unavailable` when the token cannot be verified; `overloaded` when a change was published in every round.
   */
  verify(token: string): KeyIdentity | Promise<KeyIdentity> {
    const digest = hash('sha256', token, 'base64url');
    const known = this.#known.get(digest);
    if (known === undefined) return this.#verifyUnknown(token, digest);
    const now = Date.now();
    if (now >= known.expiresAt) throw invalidTokenError();
    return now < known.trustedUntil ? known.identity : this.#verifyUnknown(token, digest);
  }

  /**
   * Removes tokens from memory because of a published change.
   * @param changed `user:<id>`, `team:<id>`, or `program:<id>` for a program that was signed out
   */
  drop(changed: string): void {
    this.#generation += 1;
    const [kind = '', id = ''] = changed.split(':');
    if (kind === 'program') this.#signedOut.set(id, true);
    else this.#changes.set(changed, Date.now());
    // A program of the person may have been signed out, see `AnnounceChange`.
    if (kind === 'user') this.#hasSignedOutList = false;
    for (const [digest, { programId, parties }] of this.#known.entries()) {
      if (programId === id || parties.includes(changed)) this.#known.delete(digest);
    }
  }

  /** Empties the memory, because published changes may have been missed. Every token is verified again at its next use. */
  markStale(): void {
    this.#generation += 1;
    this.#changesKnownSince = Date.now();
    this.#hasSignedOutList = false;
    this.#known.clear();
  }

  async #verifyUnknown(token: string, digest: string): Promise<KeyIdentity> {
    const claims = await readAccessToken(this.#dependencies.keys, token);
    if (!claims) throw invalidTokenError();
    for (let round = 0; round < maxRounds; round++) {
      const generation = this.#generation;
      const { identity, isCertain } = await this.#resolveIdentity(claims);
      if (generation !== this.#generation) continue;
      const { sub, sid, team, exp } = claims;
      const parties = [`user:${sub}`, ...(team ? [`team:${team.id}`] : [])];
      const expiresAt = exp * 1_000 + clockToleranceMs;
      const trustedUntil = isCertain ? expiresAt : Date.now() + storeRetryMs;
      this.#known.set(digest, { identity, programId: sid, parties, expiresAt, trustedUntil });
      return identity;
    }
    throw new RouterError('overloaded', 'Accounts are being changed. Please try again soon.', { retryAfter: 2 });
  }

  /**
   * Returns the identity in the claims. If the claims may be outdated, returns the identity in the store.
   * @throws RouterError `invalid_api_key` for a program that is signed out, and for a person who is blocked, deleted, or not in the team
   */
  async #resolveIdentity(claims: AccessClaims): Promise<VerifiedIdentity> {
    const { sub, sid, user, team } = claims;
    const mayBeOutdated = this.#mayHaveChanged(claims);
    if (mayBeOutdated && !this.#hasSignedOutList) await this.#readSignedOut();
    if (this.#signedOut.has(sid)) throw invalidTokenError();
    const claimed = createPersonIdentity({ ...user, id: sub }, team);
    if (!mayBeOutdated) return { identity: claimed, isCertain: true };
    try {
      return { identity: await this.#readIdentity(claims), isCertain: this.#hasSignedOutList };
    } catch (error) {
      const mayBeOutage = error instanceof RouterError && !(error instanceof UnreadableRecordError);
      if (!mayBeOutage || error.code !== 'store_unavailable') throw error;
      return { identity: claimed, isCertain: false };
    }
  }

  /** Returns whether the person or the team in the claims may have changed since the token was made. */
  #mayHaveChanged({ sub, team, iat }: AccessClaims): boolean {
    const madeAt = iat * 1_000 - clockToleranceMs;
    const changeTimes = [this.#changes.get(`user:${sub}`), team && this.#changes.get(`team:${team.id}`)];
    return [this.#changesKnownSince, ...changeTimes].some((at) => at !== undefined && at >= madeAt);
  }

  async #readIdentity({ sub, epoch, team }: AccessClaims): Promise<KeyIdentity> {
    const { users, teams } = this.#dependencies;
    const [person, teamRecord, members] = await Promise.all([
      users.find(sub),
      team && teams.find(team.id),
      team && teams.membersOf(team.id),
    ]);
    if (!isSignedIn(person, { epoch })) throw invalidTokenError();
    if (team === undefined) return createPersonIdentity(toParty(person));
    if (!teamRecord || members?.has(sub) !== true) throw invalidTokenError();
    return createPersonIdentity(toParty(person), toParty(teamRecord));
  }

  /** Reads the list of signed-out programs. While the store is unavailable, only the known signed-out programs are refused. */
  async #readSignedOut(): Promise<void> {
    const generation = this.#generation;
    this.#listReading ??= this.#dependencies.programs
      .listSignedOut()
      .then((ids) => {
        for (const id of ids) this.#signedOut.set(id, true);
        if (generation === this.#generation) this.#hasSignedOutList = true;
      })
      .catch((error: unknown) => {
        if (!(error instanceof RouterError) || error.code !== 'store_unavailable') throw error;
      })
      .finally(() => {
        this.#listReading = undefined;
      });
    await this.#listReading;
  }
}

function toParty({ id, name, limits, weight, ceiling }: IdentityParty): IdentityParty {
  return { id, name, limits, weight, ceiling };
}

function invalidTokenError(): RouterError {
  return new RouterError('invalid_api_key', 'The access token is invalid or has expired. Please sign in again.');
}
