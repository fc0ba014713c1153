import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/recordings.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Maximum of recordings that one call of the script removes. A call with the maximum takes some milliseconds. */
const maxPerCall = 500;

/**
 * Removes the recordings of an owner that no longer exists: a deleted person or team, or a revoked key that has no owner or was issued.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeRecordingsOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, owner, max: maxPerCall } }));
}
