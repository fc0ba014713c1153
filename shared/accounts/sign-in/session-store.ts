import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { isToken, generateToken, hashToken } from '../people/secret-token.ts';
import { isSignedIn, type UserRecord } from '../people/user.ts';
import type { UserStore } from '../people/user-store.ts';
import { UnconfirmedError, type Confirm } from './confirmation.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';

const openSession = new RedisScript(new URL('lua/open-session.lua', import.meta.url));
const touchSession = new RedisScript(new URL('lua/touch-session.lua', import.meta.url));

/** Maximum milliseconds for which a session lasts, however much it is used. */
const maxSessionMs = 30 * 24 * 3_600_000;

const maxPerUser = 50;

/** Minimum milliseconds between two writes that extend a session. */
const touchEveryMs = 60_000;

const sessionSchema = z.object({
  userId: z.string(),
  epoch: z.coerce.number(),
  startedAt: z.coerce.number(),
  /** Milliseconds from the last write until the session ends without another request. */
  livesMs: z.coerce.number(),
  /** Name of the provider that signed the person in, if a provider did. */
  provider: z.string().optional(),
  /** `printed`: the person signed in with a link that an operator has printed. */
  link: z.string().optional(),
  /** Absent if the address of the request was not known. */
  address: z.string().optional(),
  /** The name that the browser gives itself; absent if the request had none. */
  agent: z.string().optional(),
});

/** How a person signed in. If neither field is set, the person used a password or a link from an administrator. */
export interface SessionOpener {
  /** Name of the provider that signed the person in; undefined if no provider did. */
  provider?: string | undefined;
  link?: 'printed' | undefined;
}

export interface SessionOrigin extends SessionOpener {
  address?: string | undefined;
  /** The name that the browser gives itself. */
  agent?: string | undefined;
}

/** A sign-in session as its person sees it. Times in ms since 1970. */
export interface SignInSessionSummary extends Omit<SessionOrigin, 'link'> {
  /** The hash of the session's id. With it, the session can be ended, but not used. */
  hash: string;
  startedAt: number;
  /** Time of the last request, to the minute. */
  usedAt: number;
}

/** Maximum characters of a browser's name that are stored. */
const maxAgentLength = 300;

/**
 * The sign-in sessions of the console, in Redis. The id of a session is random, and is stored only as its SHA-256. A session ends when it
 * is not used for a time, after 30 days, when its person is blocked, and when its person is signed out everywhere. While local accounts are
 * switched off, sessions count only if a provider or a printed link opened them. Every method throws `store_unavailable` while Redis is
 * unavailable.
 */
export class SignInSessionStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #idleMs: () => Promise<number>;
  readonly #report: ReportUnreadable;
  #confirm: Confirm = async () => 'confirmed';
  #acceptsLocal = (): boolean => true;

  /**
   * @param prefix start of all names in Redis
   * @param idleMs returns the milliseconds without a request until a session ends
   */
  constructor(
    redis: Redis,
    prefix: string,
    {
      users,
      idleMs,
      report,
    }: { users: Pick<UserStore, 'find'>; idleMs: () => Promise<number>; report: ReportUnreadable },
  ) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#users = users;
    this.#idleMs = idleMs;
    this.#report = report;
  }

  /**
   * Sets the check of the person, which is called at each use of a session that a provider opened. If the check refuses the person, the
   * session does not count.
   */
  setConfirm(confirm: Confirm): void {
    this.#confirm = confirm;
  }

  /** Sets the function that tells whether sessions opened by passwords count. It is called at each use of such a session. */
  setAcceptsLocal(acceptsLocal: () => boolean): void {
    this.#acceptsLocal = acceptsLocal;
  }

  /**
   * Opens a session and returns its new id. Returns undefined if the person was blocked or signed out everywhere after the record was
   * read.
   */
  async open({ id: userId, epoch }: UserRecord, origin: SessionOrigin = {}): Promise<string | undefined> {
    const id = generateToken();
    const idHash = hashToken(id);
    const { session, sessionsOf, user } = this.#names;
    const args = {
      idHash,
      userId,
      epoch,
      origin: { ...origin, agent: origin.agent?.slice(0, maxAgentLength) },
      now: Date.now(),
      idleMs: await this.#idleMs(),
      maxMs: maxSessionMs,
      maxPerUser,
      sessionPrefix: session(''),
    };
    const keys = [session(idHash), sessionsOf(userId), user(userId)];
    return (await openSession.run(this.#redis, { keys, args })) === 1 ? id : undefined;
  }

  /**
   * Returns the person of a session; undefined if the session has ended. The call counts as a request of the session.
   * @param asks whether to ask the provider that opened the session; false if the caller only ends the session
   * @throws UnconfirmedError if the provider cannot tell whether it still lets the person sign in
   */
  async find(id: string, { asks: asksProvider = true } = {}): Promise<UserRecord | undefined> {
    if (!isToken(id)) return undefined;
    const name = this.#names.session(hashToken(id));
    const [fields, expiresInMs] = await callRedisAll(this.#redis.multi().hgetall(name).pttl(name));
    const session = this.#read(fields);
    if (!session || !this.#isAccepted(session)) return undefined;
    const [userBefore, idleMs] = await Promise.all([this.#users.find(session.userId), this.#idleMs()]);
    const now = Date.now();
    const leftMs = session.startedAt + maxSessionMs - now;
    if (!isSignedIn(userBefore, session) || leftMs <= 0) return undefined;
    let user = userBefore;
    if (asksProvider && session.provider !== undefined) {
      const confirmation = await this.#confirm(userBefore);
      if (confirmation === 'unknown') throw new UnconfirmedError();
      if (confirmation === 'refused') return undefined;
      // The person is read again, because the confirmation may have taken long, and may have changed the record.
      const userAfter = await this.#users.find(session.userId);
      if (!isSignedIn(userAfter, session)) return undefined;
      user = userAfter;
    }
    const sinceWriteMs = session.livesMs - Number(expiresInMs);
    // The setting may have become shorter since the last write.
    if (sinceWriteMs >= idleMs) return undefined;
    const extendedMs = Math.min(idleMs, leftMs);
    const needsTouch = Math.abs(extendedMs - Number(expiresInMs)) >= touchEveryMs;
    if (needsTouch) await this.#touch(name, user.id, { now, idleMs: extendedMs });
    return user;
  }

  /**
   * Returns whether a session has not ended yet. Unlike `find`, it does not extend the session.
   * @param asks whether to ask the provider that opened the session
   * @throws UnconfirmedError if `asks` is true, and the provider cannot tell whether it still lets the person sign in
   */
  async isOpen(id: string, { asks = false } = {}): Promise<boolean> {
    if (!isToken(id)) return false;
    const fields = await callRedis(this.#redis.hgetall(this.#names.session(hashToken(id))));
    const session = this.#read(fields);
    if (!session || !this.#isAccepted(session)) return false;
    const user = await this.#users.find(session.userId);
    if (!isSignedIn(user, session) || session.startedAt + maxSessionMs <= Date.now()) return false;
    if (!asks || session.provider === undefined) return true;
    const confirmation = await this.#confirm(user);
    if (confirmation === 'unknown') throw new UnconfirmedError();
    return confirmation === 'confirmed';
  }

  /** Returns how a session was opened. Both fields are undefined for a session opened by a password, and for a session that has ended. */
  async readOpener(id: string): Promise<SessionOpener> {
    const fields = this.#redis.hmget(this.#names.session(hashToken(id)), 'provider', 'link');
    const [provider, link] = await callRedis(fields);
    return { provider: provider ?? undefined, link: link === 'printed' ? link : undefined };
  }

  /** Returns whether a session exists but does not count, because a password opened it and local accounts are switched off. */
  async isSuspended(id: string): Promise<boolean> {
    if (!isToken(id)) return false;
    const session = this.#read(await callRedis(this.#redis.hgetall(this.#names.session(hashToken(id)))));
    return session !== undefined && !this.#isAccepted(session);
  }

  /** Returns the sessions of a person that have not ended, newest first. */
  async listOfPerson({ id: userId, epoch }: UserRecord): Promise<SignInSessionSummary[]> {
    const hashes = await callRedis(this.#redis.lrange(this.#names.sessionsOf(userId), 0, -1));
    const now = Date.now();
    const found = await Promise.all(
      hashes.map(async (hash) => {
        const name = this.#names.session(hash);
        const [fields, leftMs] = await callRedisAll(this.#redis.multi().hgetall(name).pttl(name));
        const session = this.#read(fields);
        if (!session || session.userId !== userId || session.epoch !== epoch) return undefined;
        const { startedAt, livesMs, provider, address, agent } = session;
        const usedAt = Math.max(startedAt, now - Math.max(0, livesMs - Number(leftMs)));
        return { hash, startedAt, usedAt, provider, address, agent };
      }),
    );
    return found.filter((session) => session !== undefined);
  }

  /** Returns the hash of a session's id, as in `SignInSessionSummary`. */
  hashOf(id: string): string {
    return hashToken(id);
  }

  /** Ends a session of a person by its hash. Returns false if the person has no such session. */
  async endByHash(userId: string, hash: string): Promise<boolean> {
    if (!isToken(hash)) return false;
    const name = this.#names.session(hash);
    if ((await callRedis(this.#redis.hget(name, 'userId'))) !== userId) return false;
    await callRedisAll(this.#redis.multi().del(name).lrem(this.#names.sessionsOf(userId), 0, hash));
    return true;
  }

  async end(id: string): Promise<void> {
    const hash = hashToken(id);
    const name = this.#names.session(hash);
    const userId = await callRedis(this.#redis.hget(name, 'userId'));
    if (userId === null) return;
    await callRedisAll(this.#redis.multi().del(name).lrem(this.#names.sessionsOf(userId), 0, hash));
  }

  /**
   * Parses a session from its fields. Returns undefined if there are no fields. An unreadable session counts as ended, so the person must
   * sign in again.
   */
  #read(fields: unknown): z.output<typeof sessionSchema> | undefined {
    const read = readStored(sessionSchema, fields);
    if ('value' in read) return read.value;
    if (Object.keys(Object(fields)).length > 0) this.#report('a session', read.reason);
    return undefined;
  }

  #isAccepted({ provider, link }: z.output<typeof sessionSchema>): boolean {
    return provider !== undefined || link === 'printed' || this.#acceptsLocal();
  }

  /** Extends a session, unless it has ended meanwhile. */
  async #touch(name: string, userId: string, args: { now: number; idleMs: number }): Promise<void> {
    await touchSession.run(this.#redis, { keys: [name, this.#names.user(userId)], args });
  }
}

/**
 * Computes the token that a page of a sign-in session sends with every request that changes something. The token is derived from the id of
 * the session, which no page of another site can read. So the token is bound to the session, and need not be stored. (OWASP Cross-Site
 * Request Forgery Prevention Cheat Sheet, "Signed Double-Submit Cookie")
 */
export function computeCsrfToken(sessionId: string): string {
  return createHmac('sha256', sessionId).update('csrf').digest('base64url');
}

/** Returns whether `token` is the session's token. The check takes the same time for every token of the right length. */
export function isCsrfToken(sessionId: string, token: string): boolean {
  const expected = Buffer.from(computeCsrfToken(sessionId));
  const actual = Buffer.from(token);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
