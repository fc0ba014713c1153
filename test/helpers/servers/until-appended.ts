import { Redis } from 'ioredis';
import { until } from '../until.ts';

/**
 * Waits until Redis has passed all writes to its append-only file on to the system, so that they survive the end of the process. While a
 * slow disk syncs the file, Redis keeps up to two seconds of writes in its own memory.
 */
export async function untilAppended(url: string): Promise<void> {
  const redis = new Redis(url);
  try {
    await until(async () => /^aof_buffer_length:0\r$/m.test(await redis.info('persistence')));
  } finally {
    redis.disconnect();
  }
}
