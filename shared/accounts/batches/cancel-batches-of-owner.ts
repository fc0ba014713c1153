import type { Redis } from 'ioredis';
import { RedisScript } from '../redis/redis-script.ts';

const cancelOwner = new RedisScript(new URL('lua/cancel-owner.lua', import.meta.url));

/**
 * Cancels all batches of an owner that no longer exists: a deleted team, or a revoked key. Lines that have not ended are not run any more.
 * One call is enough: the unfinished batches of an owner are bounded.
 * @param prefix start of all names in Redis
 * @param key cancels only the batches that were created with this key
 * @throws RouterError `store_unavailable`
 */
export async function cancelBatchesOfOwner(redis: Redis, prefix: string, owner: string, key?: string): Promise<void> {
  await cancelOwner.run(redis, { args: { prefix, owner, key } });
}
