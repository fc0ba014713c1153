import type { Logger } from '#shared/core/log.ts';
import type { RedisConnection } from './connect-redis.ts';
import { findWriteRefusal } from './find-write-refusal.ts';

const checkEveryMs = 1_000;

/**
 * Finds out once a second whether Redis refuses writes although it answers, so that health checks and metrics do not call it well: its memory
 * is full, its disk fails, or it is a read-only replica. While Redis is unavailable, the last known state stays.
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

  /** Whether Redis answers and refuses writes. A change is recognised within a second. */
  get areRefused(): boolean {
    return this.#refusal !== undefined;
  }

  /** Returns the round trip as the connection does; undefined also while Redis refuses writes. */
  async roundTripMs(): Promise<number | undefined> {
    const ms = await this.#connection.roundTripMs();
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
