import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';

/** Number of full hashes that together contain the whole index of ids. Each hash has at most an eighth of the ids. */
const fullHashes = 8;

/**
 * Computes the maximum number of ids in one hash of the index.
 * @param maxRequests maximum number of single requests that the ledger keeps
 */
export function computeMaxIdsPerHash(maxRequests: number): number {
  return Math.max(1, Math.ceil(maxRequests / fullHashes));
}

/** Maximum number of hashes that are kept in addition to the current hash. */
export const maxOlderHashes = fullHashes;

/**
 * Returns the stream ids of all requests with the id `id`, oldest first. There may be several, because clients choose ids, and because one
 * request may have several records.
 * @param prefix start of the ledger's names
 * @throws RouterError `store_unavailable` while Redis is unavailable
 */
export async function findEntryIds(redis: Redis, prefix: string, id: string): Promise<string[]> {
  const current = Number((await callRedis(redis.get(`${prefix}ids`))) ?? 0);
  const commands = redis.pipeline();
  for (let number = Math.max(0, current - maxOlderHashes); number <= current; number += 1)
    commands.hget(`${prefix}ids:${number}`, id);
  const texts = (await callRedisAll(commands)) as (string | null)[];
  return texts.flatMap((text) => (text === null ? [] : text.split(',').flatMap((place) => place.split(' ')[1] ?? [])));
}
