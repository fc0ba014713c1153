import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from './account-names.ts';
import { callRedis, callRedisAll } from './call-redis.ts';

/** Seconds for which every ingress accepts a store after an operator has confirmed it. */
const acceptedSeconds = 600;

export interface StoreIdentity {
  /** The random id of the store. Undefined for a store that never had a key or a person, and for a store that was emptied. */
  id: string | undefined;
  /** Whether an operator confirmed the store within the last ten minutes. */
  isAccepted: boolean;
}

/**
 * The mark that identifies the store of accounts. The mark is a random id. The first `read` of a store that has a key or a person writes
 * it. The mark survives restarts, failovers and restored backups. It is lost when the store is emptied.
 */
export class StoreMarker {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /**
   * Reads the mark. If the store has no mark and is not empty, writes a mark.
   * @throws RouterError `store_unavailable`
   */
  async read(): Promise<StoreIdentity> {
    const { storeId, storeAccepted, keys, users } = this.#names;
    const [id, acceptedId, entityCount] = await callRedisAll(
      this.#redis.pipeline().get(storeId).get(storeAccepted).exists(keys, users),
    );
    if (typeof id === 'string') return { id, isAccepted: id === acceptedId };
    return { id: Number(entityCount) > 0 ? await this.#ensureMark() : undefined, isAccepted: false };
  }

  /**
   * Confirms the store in its current state, even if it was emptied or replaced.
   * @throws RouterError `store_unavailable`
   */
  async accept(): Promise<void> {
    await callRedis(this.#redis.set(this.#names.storeAccepted, await this.#ensureMark(), 'EX', acceptedSeconds));
  }

  /**
   * Counts the keys and the people in the store.
   * @throws RouterError `store_unavailable`
   */
  async count(): Promise<{ keys: number; people: number }> {
    const { keys, users } = this.#names;
    const [keyCount, userCount] = await callRedisAll(this.#redis.pipeline().zcard(keys).zcard(users));
    return { keys: Number(keyCount), people: Number(userCount) };
  }

  async #ensureMark(): Promise<string> {
    const { storeId } = this.#names;
    const [, id] = await callRedisAll(this.#redis.pipeline().setnx(storeId, randomUUID()).get(storeId));
    return String(id);
  }
}
