import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from './call-redis.ts';

/** Milliseconds for which the processes of a piece of work stay stored after the last of them has begun. */
const keptMs = 24 * 3_600_000;

/**
 * Records which processes have begun a piece of work and have not ended it. These processes still work on it, or have died. Every method
 * throws RouterError `store_unavailable` while Redis is unavailable.
 */
export class UnfinishedWork {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #process: string;

  /**
   * @param prefix start of all names in Redis
   * @param process name of this process; no other process may ever have had it
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
    const name = this.#buildName(work);
    const steps = this.#redis.multi().sadd(name, this.#process).scard(name).pexpire(name, keptMs);
    const [, processCount] = await callRedisAll(steps);
    return Number(processCount) - 1;
  }

  async end(work: string): Promise<void> {
    await callRedis(this.#redis.srem(this.#buildName(work), this.#process));
  }

  #buildName(work: string): string {
    return `${this.#prefix}begun-work:${work}`;
  }
}
