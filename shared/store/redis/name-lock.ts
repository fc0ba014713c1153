import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import { accountNames, type AccountNames } from './account-names.ts';
import { callRedis } from './call-redis.ts';
import { RedisScript } from './redis-script.ts';

const endLock = new RedisScript(new URL('lua/end-lock.lua', import.meta.url));

/** Milliseconds after which an acquired lock expires, so that a node that has died does not keep it. */
const lockMs = 10_000;

/** Milliseconds after which a caller stops waiting for the lock. */
const maxWaitMs = 5_000;
/** Minimum milliseconds between two tries to acquire the lock. */
const retryMs = 20;

/** A lock of the whole cluster for a name. With it, one caller at a time looks up what has the name, and creates it if nothing has. */
export class NameLock {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /**
   * Acquires the lock of a name, runs `work`, and releases the lock. Returns or throws what `work` does.
   * @throws RouterError `overloaded` if other callers have the lock for five seconds; `store_unavailable`
   */
  async runLocked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lock = this.#names.nameLock(hash('sha256', name, 'base64url'));
    const mark = randomUUID();
    const deadline = performance.now() + maxWaitMs;
    while ((await callRedis(this.#redis.set(lock, mark, 'PX', lockMs, 'NX'))) !== 'OK') {
      if (performance.now() < deadline) {
        // The pause is random, so that the waiting callers do not all try again at the same time.
        await sleep(retryMs * (1 + Math.random()));
        continue;
      }
      const message = 'Somebody else makes or changes this at this moment. Please try again soon.';
      throw new RouterError('overloaded', message, { retryAfter: 1 });
    }
    try {
      return await work();
    } finally {
      // A lock that cannot be released expires. The outcome of the work is what matters to the caller.
      await endLock.run(this.#redis, { keys: [lock], args: { mark } }).catch(() => undefined);
    }
  }
}
