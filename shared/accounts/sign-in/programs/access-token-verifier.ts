import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '../../keys/key-record.ts';
import type { TeamStore } from '../../people/team-store.ts';
import { isSignedIn } from '../../people/user.ts';
import type { UserStore } from '../../people/user-store.ts';
import { createPersonIdentity, type IdentityParty } from '../../people/person-identity.ts';
import { ReadThroughCache, type CachedRead } from '#shared/store/redis/read-through-cache.ts';
import { isOutage } from '#shared/store/redis/stored-records.ts';
import { acceptedMs, clockToleranceMs, readAccessToken, type AccessClaims } from './access-tokens.ts';
import type { ProgramStore } from './program-store.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Maximum of changed people and teams in memory. */
const maxChanges = 10_000;

/** A token that is verified while the store is unavailable is verified again after this many milliseconds. */
const storeRetryMs = 1_000;

export interface AccessTokenVerifierDependencies {
  keys: Pick<SigningKeys, 'find'>;
  users: Pick<UserStore, 'find'>;
  teams: Pick<TeamStore, 'find' | 'membersOf'>;
  programs: Pick<ProgramStore, 'listSignedOut'>;
}

interface KnownToken {
  identity: KeyIdentity;
  /** In ms since 1970. */
  expiresAt: number;
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
  readonly #tokens = new ReadThroughCache<KnownToken>({ noun: 'tokens', read: (token) => this.#verifyUnknown(token) });
  /** When the last change of a person or a team was published, in ms since 1970, by `user:<id>` or `team:<id>`. */
  readonly #changes = new LRUCache<string, number>({
    max: maxChanges,
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
  /**
   * The read of the list of signed-out programs. Undefined if the list must be read: after a change of a person, after `markStale`, and
   * after a failure.
   */
  #listRead: Promise<true> | undefined;

  constructor(dependencies: AccessTokenVerifierDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the identity of a token: at once for a token in use, else as a promise. Throws, or rejects with, RouterError `invalid_api_key`;
   * `store_unavailable` when the token cannot be verified; `overloaded` when a change was published in every round.
   */
  verify(token: string): KeyIdentity | Promise<KeyIdentity> {
    const found = this.#tokens.find(hash('sha256', token, 'base64url'), token);
    if (found instanceof Promise) return found.then(({ identity }) => identity);
    if (Date.now() >= found.expiresAt) throw invalidTokenError();
    return found.identity;
  }

  /**
   * Removes tokens from memory because of a published change.
   * @param changed `user:<id>`, `team:<id>`, or `program:<id>` for a program that was signed out; tokens do not depend on a key
   */
  drop(changed: string): void {
    const [kind, id] = changed.split(':');
    if (id === undefined) return;
    if (kind === 'program') this.#signedOut.set(id, true);
    else this.#changes.set(changed, Date.now());
    // A program of the person may have been signed out, see `AnnounceChange`.
    if (kind === 'user') this.#listRead = undefined;
    this.#tokens.drop(changed);
  }

  /** Makes the next use of every token verify it again, because published changes may have been missed. */
  markStale(): void {
    this.#changesKnownSince = Date.now();
    this.#listRead = undefined;
    this.#tokens.markStale();
  }

  async #verifyUnknown(token: string): Promise<CachedRead<KnownToken>> {
    const claims = await readAccessToken(this.#dependencies.keys, token);
    if (!claims) throw invalidTokenError();
    const { identity, isCertain } = await this.#resolveIdentity(claims);
    const { sub, sid, team, exp } = claims;
    return {
      value: { identity, expiresAt: exp * 1_000 + clockToleranceMs },
      freshMs: isCertain ? Infinity : storeRetryMs,
      isAccepted: true,
      dependsOn: [`program:${sid}`, `user:${sub}`, ...(team ? [`team:${team.id}`] : [])],
    };
  }

  /**
   * Returns the identity in the claims. If the claims may be outdated, returns the identity in the store.
   * @throws RouterError `invalid_api_key` for a program that is signed out, and for a person who is blocked, deleted, or not in the team
   */
  async #resolveIdentity(claims: AccessClaims): Promise<VerifiedIdentity> {
    const { sub, sid, user, team } = claims;
    const mayBeOutdated = this.#mayHaveChanged(claims);
    const hasList = !mayBeOutdated || (await this.#readSignedOut());
    if (this.#signedOut.has(sid)) throw invalidTokenError();
    const claimed = createPersonIdentity({ ...user, id: sub }, team);
    if (!mayBeOutdated) return { identity: claimed, isCertain: true };
    try {
      return { identity: await this.#readIdentity(claims), isCertain: hasList };
    } catch (error) {
      if (!isOutage(error)) throw error;
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

  /**
   * Reads the list of signed-out programs, unless it was read already. Returns false while the store is unavailable; then only the known
   * signed-out programs are refused.
   */
  async #readSignedOut(): Promise<boolean> {
    const listRead = (this.#listRead ??= this.#dependencies.programs.listSignedOut().then((ids) => {
      for (const id of ids) this.#signedOut.set(id, true);
      return true as const;
    }));
    try {
      return await listRead;
    } catch (error) {
      if (this.#listRead === listRead) this.#listRead = undefined;
      if (!isOutage(error)) throw error;
      return false;
    }
  }
}

function toParty({ id, name, limits, weight, ceiling }: IdentityParty): IdentityParty {
  return { id, name, limits, weight, ceiling };
}

function invalidTokenError(): RouterError {
  return new RouterError('invalid_api_key', 'The access token is invalid or has expired. Please sign in again.');
}
