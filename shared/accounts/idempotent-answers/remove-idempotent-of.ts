import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/answers.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Keys that one call of the script forgets at most, in some milliseconds. */
const most = 500;

/**
 * Forgets the idempotency keys, and removes the answers kept for them, of an owner who is gone for good: a deleted person or team, or a
 * revoked key.
 * @param prefix what all names in Redis begin with
 * @throws RouterError `store_unavailable`
 */
export async function removeIdempotentOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, id: '', owner, most } }));
}
