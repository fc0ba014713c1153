import type { Redis } from 'ioredis';
import { parseWriteRefusal, createStoreUnavailableError } from './call-redis.ts';

/**
 * Returns the message with which Redis refuses writes; undefined if it accepts them. The check writes nothing: it pushes to a list that
 * never exists, with a command that is refused like any other write.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable` when Redis does not answer in time
 */
export async function findWriteRefusal(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    await redis.lpushx(`${prefix}write-check`, '');
    return undefined;
  } catch (error) {
    const refusal = parseWriteRefusal(error);
    if (refusal === undefined) throw createStoreUnavailableError(error);
    return refusal;
  }
}
