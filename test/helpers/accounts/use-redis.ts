import { inject } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { silentLog as log } from '../silent-log.ts';

/**
 * Runs a function on Redis, over a connection that is closed afterwards.
 * @param url default: the shared server
 */
export async function useRedis<Found>(
  act: (redis: RedisConnection['redis']) => Promise<Found>,
  url = inject('redisUrl'),
): Promise<Found> {
  const connection = connectRedis(url, { log, name: 'test' });
  try {
    await connection.whenReady(AbortSignal.timeout(30_000));
    return await act(connection.redis);
  } finally {
    connection.close();
  }
}

/** Writes some thousand requests at once into the ledger of a cluster, as its nodes do. */
export function fillLedger(prefix: string, records: readonly UsageRecord[]): Promise<void> {
  return useRedis(async (redis) => {
    for (let from = 0; from < records.length; from += 5_000) {
      const bounds = { maxRequests: 2_000_000, requestsKeptMs: 30 * 86_400_000 };
      const ledger = new UsageLedger(redis, `${prefix}:`, log, bounds);
      for (const record of records.slice(from, from + 5_000)) ledger.add(record);
      await ledger.close();
    }
  });
}
