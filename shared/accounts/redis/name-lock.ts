import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import { accountNames, type AccountNames } from './account-names.ts';
import { askRedis } from './ask-redis.ts';
import { RedisScript } from './redis-script.ts';

const endLock = new RedisScript(new URL('lua/end-lock.lua', import.meta.url));

/** Milliseconds after which the lock of a node that has died is free. */
const lockMs = 10_000;

/** Milliseconds for which others are waited for, and between two attempts. */
const waitMs = 5_000;
const againMs = 20;

/** Lets one caller at a time, in the whole cluster, look for a thing by its name and make it where there is none. */
export class NameLock {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /** Waits while somebody else is at it. @throws RouterError `overloaded` when that takes five seconds, `store_unavailable` */
  async with<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lock = this.#names.nameLock(hash('sha256', name, 'base64url'));
    const mark = randomUUID();
    const deadline = performance.now() + waitMs;
    while ((await askRedis(this.#redis.set(lock, mark, 'PX', lockMs, 'NX'))) !== 'OK') {
      if (performance.now() < deadline) {
        // At different times, so that those who wait do not come all at once again.
        await sleep(againMs * (1 + Math.random()));
        continue;
      }
      const message = 'Somebody else makes or changes this at this moment. Please try again soon.';
      throw new RouterError('overloaded', message, { retryAfter: 1 });
    }
    try {
      return await work();
    } finally {
      await endLock.run(this.#redis, { keys: [lock], args: { mark } });
    }
  }
}
