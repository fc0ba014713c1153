import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from '../redis/call-redis.ts';

/** Number of full hashes that contain the whole index of ids. Each hash has at most an eighth of the ids. */
const fullHashes = 8;

/**
 * Returns the maximum of ids in one hash of the index.
 * @param maxRequests maximum of single requests that the ledger keeps
 */
export function maxIdsPerHash(maxRequests: number): number {
  return Math.max(1, Math.ceil(maxRequests / fullHashes));
}

/** Number of hashes that are kept in addition to the current one. */
export const olderHashes = fullHashes;

/**
 * Returns the stream ids of the requests with an id, oldest first. There may be several, because clients choose ids, and one request may
 * have several records.
 * @param prefix start of the ledger's names
 * @throws RouterError `store_unavailable` while Redis is unavailable
 */
export async function findEntries(redis: Redis, prefix: string, id: string): Promise<string[]> {
  const current = Number((await callRedis(redis.get(`${prefix}ids`))) ?? 0);
  const commands = redis.pipeline();
  for (let number = Math.max(0, current - olderHashes); number <= current; number += 1)
    commands.hget(`${prefix}ids:${number}`, id);
  const found = (await callRedisAll(commands)) as (string | null)[];
  return found.flatMap((text) => (text === null ? [] : text.split(',').flatMap((each) => each.split(' ')[1] ?? [])));
}
