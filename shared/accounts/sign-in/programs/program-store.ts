import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { acceptedMs, accessTokenMs } from './access-tokens.ts';
import type { RefreshToken } from './refresh-token.ts';

const refreshProgram = new RedisScript(new URL('lua/refresh-program.lua', import.meta.url));
const signOutProgram = new RedisScript(new URL('lua/sign-out-program.lua', import.meta.url));

/** Milliseconds for which a program stays signed in after its last refresh. */
export const programIdleMs = 30 * 24 * 3_600_000;
/** Maximum milliseconds for which a program stays signed in, however often it is refreshed. */
const programMaxMs = 180 * 24 * 3_600_000;

/** Maximum of programs of a person. If a person has more, the oldest program is signed out. */
export const maxProgramsPerUser = 50;

/**
 * Milliseconds after a refresh for which the previous refresh token may be presented again, because the reply may have been lost. A program
 * that did not get the reply possibly tries again only when its access token has expired.
 */
const repeatMs = accessTokenMs;

const programSchema = z.object({
  id: z.string(),
  userId: z.string(),
  /** The epoch of the program's person when the program was signed in. */
  epoch: z.coerce.number(),
  teamId: z.string().optional(),
  /** The name that the program gives itself. */
  client: z.string(),
  /** The network address from which the program was signed in. */
  address: z.string(),
  createdAt: z.coerce.number(),
  usedAt: z.coerce.number(),
  /** Generation of the program's newest refresh token. */
  generation: z.coerce.number(),
});

export type Program = z.infer<typeof programSchema>;

/** Who signs a program out: its person, or the holder of a refresh token of this generation. If neither is set, the router does. */
export interface SignOutBy {
  userId?: string;
  generation?: number | undefined;
}

/** The outcome of signing a program out. */
export interface SignedOut {
  userId: string;
  /** Whether the sign-out used a refresh token that was replaced before, and that may be stolen. */
  isReplayed: boolean;
}

/**
 * The outcome of a refresh. `ended`, `replayed`: the refresh signed the program out. `late`: the token was replaced after it was
 * presented.
 */
export type RefreshOutcome =
  | { state: 'refreshed'; token: RefreshToken }
  | { state: 'ended' | 'replayed'; userId: string }
  | { state: 'unknown' }
  | { state: 'late' };

/**
 * The programs that people have signed in, in Redis. A program ends when it is signed out, or when all sign-in sessions of its person are
 * ended. It also ends after 30 days without a refresh, and 180 days after its sign-in. Every method throws `store_unavailable` while Redis
 * is unavailable.
 */
export class ProgramStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<Program>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    const nameOf = this.#names.program;
    this.#records = new StoredRecords(redis, { kind: 'program', schema: programSchema, nameOf, report });
  }

  find(id: string): Promise<Program | undefined> {
    return this.#records.find(id);
  }

  async listOfPerson(userId: string): Promise<Program[]> {
    const ids = await callRedis(this.#redis.zrange(this.#names.programsOf(userId), '0', '-1', 'REV'));
    return this.#records.findAll(ids);
  }

  /**
   * Puts the successor of a refresh token into use, and returns it.
   * @param programBefore the program when the token was presented
   */
  async refresh(
    { programId: id, generation }: RefreshToken,
    programBefore: Pick<Program, 'generation'>,
  ): Promise<RefreshOutcome> {
    const now = Date.now();
    const args = {
      id,
      generation,
      seen: programBefore.generation,
      now,
      repeatMs,
      idleMs: programIdleMs,
      maxMs: programMaxMs,
      revokedUntil: now + acceptedMs,
      userPrefix: this.#names.user(''),
      membersOfPrefix: this.#names.membersOf(''),
      programsOfPrefix: this.#names.programsOf(''),
    };
    const keys = [this.#names.program(id), this.#names.revokedPrograms];
    const outcome = (await refreshProgram.run(this.#redis, { keys, args })) as [
      RefreshOutcome['state'],
      (string | number)?,
    ];
    const [state, detail = ''] = outcome;
    switch (state) {
      case 'refreshed':
        return { state, token: { programId: id, generation: Number(detail) } };
      case 'ended':
      case 'replayed':
        return { state, userId: String(detail) };
      case 'unknown':
      case 'late':
        return { state };
    }
  }

  /** Signs a program out. Returns undefined if there is no such program, or if it does not belong to the person `userId`. */
  async signOut(id: string, { userId, generation }: SignOutBy = {}): Promise<SignedOut | undefined> {
    const now = Date.now();
    const programsOfPrefix = this.#names.programsOf('');
    const args = { id, userId, generation, now, repeatMs, revokedUntil: now + acceptedMs, programsOfPrefix };
    const keys = [this.#names.program(id), this.#names.revokedPrograms];
    const outcome = (await signOutProgram.run(this.#redis, { keys, args })) as [string, number] | [];
    const [personId, isReplayed] = outcome;
    return personId === undefined ? undefined : { userId: personId, isReplayed: isReplayed === 1 };
  }

  /** Returns the ids of signed-out programs whose access tokens may not have expired yet. */
  async listSignedOut(): Promise<string[]> {
    // Only reads, so that nodes get the list also while Redis refuses writes. Each sign-out removes the expired ids.
    return callRedis(this.#redis.zrange(this.#names.revokedPrograms, `(${Date.now()}`, '+inf', 'BYSCORE'));
  }
}
