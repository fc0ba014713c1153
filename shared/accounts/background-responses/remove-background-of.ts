import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/background.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Responses that one call of the script removes at most, in some milliseconds. */
const most = 200;

/**
 * Removes all responses in the background of an owner who is gone for good: a deleted team, or a revoked key. Those that are being made
 * stop, and are not counted.
 * @param prefix what all names in Redis begin with
 * @throws RouterError `store_unavailable`
 */
export async function removeBackgroundOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, id: '', owner, most } }));
}
