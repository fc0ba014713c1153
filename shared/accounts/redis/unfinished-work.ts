import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from './call-redis.ts';

/** Milliseconds for which it is stored that a process has begun a piece of work. */
const keptMs = 24 * 3_600_000;

/**
 * The processes that have begun a piece of work and have not ended it: those that died in the middle, and those that still work. Every
 * method throws RouterError `store_unavailable`.
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
   * Notes that this process begins a piece of work.
   * @returns how many others have begun it and have not ended it
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
