import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/background.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Maximum number of responses that one call of the script removes. Such a call takes some milliseconds. */
const maxPerCall = 200;

/**
 * Removes all background responses of an owner that no longer exists: a deleted team, or a revoked key. Responses in progress stop, and
 * their use is not counted.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeBackgroundResponsesOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  let remaining = 1;
  while (remaining > 0)
    remaining = Number(await removeOwner.run(redis, { args: { prefix, id: '', owner, maxRemoved: maxPerCall } }));
}
