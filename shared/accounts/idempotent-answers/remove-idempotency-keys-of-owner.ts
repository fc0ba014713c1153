import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/answers.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Maximum of keys that one call of the script removes. A call with the maximum takes some milliseconds. */
const maxPerCall = 500;

/**
 * Removes all idempotency keys and their answers of an owner that no longer exists: a deleted person or team, or a revoked key.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeIdempotencyKeysOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, id: '', owner, max: maxPerCall } }));
}
