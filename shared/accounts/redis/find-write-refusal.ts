import type { Redis } from 'ioredis';
import { findRefusedWrite, storeUnavailable } from './call-redis.ts';

/**
 * Returns why Redis refuses writes although it answers, in its own words; undefined if it takes them. Nothing is written: the command pushes
 * to a list that never exists, and is refused as any other write.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable` when Redis does not answer in time
 */
export async function findWriteRefusal(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    await redis.lpushx(`${prefix}write-check`, '');
    return undefined;
  } catch (error) {
    const refusal = findRefusedWrite(error);
    if (refusal === undefined) throw storeUnavailable(error);
    return refusal;
  }
}
