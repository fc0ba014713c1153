import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from '../redis/call-redis.ts';

/** One hash of the index has at most an eighth of all ids. As many older hashes are kept besides it as make up the whole. */
const parts = 8;

/**
 * Returns the maximum of ids in one hash of the index.
 * @param maxRequests requests that are kept singly
 */
export function idsAtOnce(maxRequests: number): number {
  return Math.max(1, Math.ceil(maxRequests / parts));
}

/** Hashes that are kept besides the current one. */
export const olderIds = parts;

/**
 * Returns the stream ids of the requests with an id, oldest first: clients choose ids, and one request may be several records.
 * @param prefix of the ledger's names
 * @throws RouterError `store_unavailable` while Redis is away
 */
export async function findEntries(redis: Redis, prefix: string, id: string): Promise<string[]> {
  const current = Number((await callRedis(redis.get(`${prefix}ids`))) ?? 0);
  const commands = redis.pipeline();
  for (let place = Math.max(0, current - olderIds); place <= current; place += 1)
    commands.hget(`${prefix}ids:${place}`, id);
  const found = (await callRedisAll(commands)) as (string | null)[];
  return found.flatMap((text) => (text === null ? [] : text.split(',').flatMap((each) => each.split(' ')[1] ?? [])));
}
