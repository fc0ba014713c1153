import type { Redis } from 'ioredis';
import { RedisScript } from '../redis/redis-script.ts';

const removeOwner = new RedisScript(
  new URL('lua/stored.lua', import.meta.url),
  new URL('lua/remove-owner.lua', import.meta.url),
);

/** Responses and items that one call of the script visits at most, in about 10 ms. */
const mostVisits = 10_000;

/** Milliseconds for which responses of the owner are refused: no answer takes longer. */
const refusedForMs = 24 * 3_600_000;

/**
 * Removes all stored responses of an owner who is gone for good: a deleted team, or a revoked key. Nothing of it is stored any more, not
 * even the answers that run now.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeStoredOf(redis: Redis, prefix: string, owner: string): Promise<void> {
  let left = 1;
  while (left > 0) left = Number(await removeOwner.run(redis, { args: { prefix, owner, mostVisits, refusedForMs } }));
}
