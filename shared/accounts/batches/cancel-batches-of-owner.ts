import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const cancelOwner = new RedisScript(scriptStart, new URL('lua/cancel-owner.lua', import.meta.url));

/**
 * Cancels all batches of an owner that no longer exists: a deleted team, or a revoked key. Lines without a result are not run any more.
 * One call is enough, because the number of an owner's unfinished batches is bounded.
 * @param prefix start of all names in Redis
 * @param key if defined, only the batches that were created with this key are cancelled
 * @throws RouterError `store_unavailable`
 */
export async function cancelBatchesOfOwner(redis: Redis, prefix: string, owner: string, key?: string): Promise<void> {
  await cancelOwner.run(redis, { args: { prefix, owner, key } });
}
