import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from './call-redis.ts';

/** Milliseconds after a piece of work was last begun until the processes that have begun it are forgotten. */
const keptMs = 24 * 3_600_000;

/**
 * The processes that have begun a piece of work and have not ended it, because they died in the middle or still work on it. Every method
 * throws RouterError `store_unavailable`.
 */
export class UnfinishedWork {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #process: string;

  /**
   * @param prefix start of all names in Redis
   * @param process name of this process, which no other process has or had
   */
  constructor(redis: Redis, prefix: string, process: string) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#process = process;
  }

  /**
   * Records that this process begins a piece of work.
   * @returns how many other processes have begun this work and have not ended it
   */
  async begin(work: string): Promise<number> {
    const name = this.#name(work);
    const steps = this.#redis.multi().sadd(name, this.#process).scard(name).pexpire(name, keptMs);
    const [, begun] = await callRedisAll(steps);
    return Number(begun) - 1;
  }

  async end(work: string): Promise<void> {
    await callRedis(this.#redis.srem(this.#name(work), this.#process));
  }

  #name(work: string): string {
    return `${this.#prefix}begun-work:${work}`;
  }
}
