import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import { parseWriteRefusal, createStoreUnavailableError } from './call-redis.ts';
import type { RedisConnection } from './connect-redis.ts';

const checkEveryMs = 1_000;

/**
 * Checks once a second whether Redis answers but refuses writes, because its memory is full, its disk fails, or it is a read-only replica.
 * Health checks and metrics then do not report Redis as healthy. While Redis is unavailable, the last known state stays.
 */
export class WriteWatch {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #log: Pick<Logger, 'error' | 'info'>;
  readonly #timer: NodeJS.Timeout;
  #refusal: string | undefined;

  /** @param prefix start of all names in Redis */
  constructor(connection: RedisConnection, prefix: string, log: Pick<Logger, 'error' | 'info'>) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#log = log;
    this.#timer = setInterval(() => this.#check(), checkEveryMs);
    this.#check();
  }

  /** Whether Redis answers but refuses writes. A change shows within a second. */
  get areRefused(): boolean {
    return this.#refusal !== undefined;
  }

  /** Returns the milliseconds that Redis takes to answer a ping; undefined if Redis does not answer in time, or refuses writes. */
  async measureRoundTripMs(): Promise<number | undefined> {
    const ms = await this.#connection.measureRoundTripMs();
    return this.areRefused ? undefined : ms;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    findWriteRefusal(this.#connection.redis, this.#prefix).then(
      (refusal) => this.#update(refusal),
      () => undefined,
    );
  }

  #update(refusal: string | undefined): void {
    const wereRefused = this.areRefused;
    this.#refusal = refusal;
    if (wereRefused === this.areRefused) return;
    if (this.areRefused) this.#log.error({ reason: refusal }, 'redis refuses writes');
    else this.#log.info('redis takes writes again');
  }
}

/**
 * Returns the message with which Redis refuses writes; undefined if it accepts them. The check writes nothing: it pushes to a list that
 * never exists, with a command that is refused like any other write.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable` when Redis does not answer in time
 */
export async function findWriteRefusal(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    await redis.lpushx(`${prefix}write-check`, '');
    return undefined;
  } catch (error) {
    const refusal = parseWriteRefusal(error);
    if (refusal === undefined) throw createStoreUnavailableError(error);
    return refusal;
  }
}
