import type { Redis } from 'ioredis';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';

/** The part of all ids that one hash of the index has at most: with it, as many older hashes are kept as make up the whole. */
const parts = 8;

/** The ids in one hash of the index, from the number of requests that are kept singly. */
export function idsAtOnce(maxRequests: number): number {
  return Math.max(1, Math.ceil(maxRequests / parts));
}

/** Hashes besides the one that is written to. */
export const olderIds = parts;

/**
 * Where the requests with an id stand in the stream, oldest first: clients choose ids, and one request may be several records.
 * @param prefix of the ledger's names
 * @throws RouterError `store_unavailable` while Redis is away
 */
export async function findEntries(redis: Redis, prefix: string, id: string): Promise<string[]> {
  const current = Number((await askRedis(redis.get(`${prefix}ids`))) ?? 0);
  const commands = redis.pipeline();
  for (let place = Math.max(0, current - olderIds); place <= current; place += 1)
    commands.hget(`${prefix}ids:${place}`, id);
  const found = (await askRedisAll(commands)) as (string | null)[];
  return found.flatMap((text) => (text === null ? [] : text.split(',').flatMap((each) => each.split(' ')[1] ?? [])));
}
