import type { Redis } from 'ioredis';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  scriptStart,
  new URL('lua/stored.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Maximum of responses and items that one call of the script visits. A call with the maximum takes about 10 ms. */
const maxVisits = 10_000;

/** Milliseconds for which further responses of the owner are refused. No answer that has begun takes longer. */
const refusedForMs = 24 * 3_600_000;

/**
 * Removes all stored responses of an owner that no longer exists: a deleted team, or a revoked key. Answers that are still being made are
 * not stored.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeStoredResponsesOfOwner(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, owner, maxVisits, refusedForMs } }));
}
