import type { Redis } from 'ioredis';
import { RedisScript } from '../redis/redis-script.ts';
import { keptDays } from './kept-days.ts';
import { sessionScript } from './session-entry.ts';
import { sessionKeys, type SessionOwner } from './session-names.ts';

const removeOwner = new RedisScript(sessionScript, new URL('lua/remove-owner.lua', import.meta.url));

/** Sessions that one call of the script removes at most. */
const atOnce = 100;

/** The longest time for which sums of a day are kept, whatever the setting was: a year and a day. */
const longestMs = 366 * 86_400_000;

/**
 * Removes the sessions of coding agents of an owner who is gone for good.
 * @param prefix what all names in Redis begin with
 * @throws RouterError `store_unavailable`
 */
export async function removeSessionsOf(redis: Redis, prefix: string, owner: SessionOwner): Promise<void> {
  const { base } = sessionKeys(prefix);
  let days = keptDays(longestMs);
  let left = 1;
  while (left > 0) {
    left = Number(await removeOwner.run(redis, { args: { base, owner, days, most: atOnce } }));
    days = [];
  }
}
