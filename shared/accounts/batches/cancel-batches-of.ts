import type { Redis } from 'ioredis';
import { RedisScript } from '../redis/redis-script.ts';

const cancelOwner = new RedisScript(new URL('lua/cancel-owner.lua', import.meta.url));

/**
 * Has all batches cancelled of an owner who is gone for good: a deleted team, or a revoked key. Lines that have not ended are not run any
 * more. There are few: an owner has a bounded number that are not over.
 * @param prefix what all names in Redis begin with
 * @param key only those that were created with this key
 * @throws RouterError `store_unavailable`
 */
export async function cancelBatchesOf(redis: Redis, prefix: string, owner: string, key?: string): Promise<void> {
  await cancelOwner.run(redis, { args: { prefix, owner, key } });
}
