import { hash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import { accountNames, type AccountNames } from './account-names.ts';
import { askRedis } from './ask-redis.ts';
import { RedisScript } from './redis-script.ts';

const endLock = new RedisScript(new URL('lua/end-lock.lua', import.meta.url));

/** Milliseconds after which the lock of a node that has died is free. */
const lockMs = 10_000;

/** Lets one caller at a time, in the whole cluster, look for a thing by its name and make it where there is none. */
export class NameLock {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /** @throws RouterError `overloaded` while somebody else is at it, `store_unavailable` */
  async with<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lock = this.#names.nameLock(hash('sha256', name, 'base64url'));
    const mark = randomUUID();
    if ((await askRedis(this.#redis.set(lock, mark, 'PX', lockMs, 'NX'))) !== 'OK') {
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
