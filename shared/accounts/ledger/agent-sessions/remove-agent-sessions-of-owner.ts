import type { Redis } from 'ioredis';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { listKeptDays, type SessionOwner, sessionRedisNames } from './session-names.ts';
import { sessionScript } from './session-entry.ts';

const removeOwner = new RedisScript(sessionScript, new URL('lua/remove-owner.lua', import.meta.url));

const maxPerCall = 100;

/** The longest time for which the sums of a day can be kept: a year and a day. */
const maxKeptMs = 366 * 86_400_000;

/**
 * Removes the agent sessions of an owner that no longer exists.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeAgentSessionsOfOwner(redis: Redis, prefix: string, owner: SessionOwner): Promise<void> {
  const { base } = sessionRedisNames(prefix);
  let days = listKeptDays(maxKeptMs);
  let left = 1;
  while (left > 0) {
    left = Number(await removeOwner.run(redis, { args: { base, owner, days, max: maxPerCall } }));
    days = [];
  }
}
