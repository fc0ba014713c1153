import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { until } from '../until.ts';
import { admin } from './open-ledger.ts';
import { useRedis } from './use-redis.ts';

/**
 * Reads the last 200 requests in the usage ledger of a cluster, newest first.
 * @param key id of the key with which they were made; default: any
 * @param redisUrl default: the shared server
 */
export async function readUsage(prefix: string, key?: string, redisUrl?: string): Promise<UsageRecord[]> {
  return useRedis(
    async (redis) => (await new UsageReader(redis, `${prefix}:`).listRequests(admin, { key }, 200)).requests,
    redisUrl,
  );
}

/**
 * Waits for the ledger's record of a request.
 * @param id id of the request
 */
export async function recordOf({ prefix }: { prefix: string }, id: string): Promise<UsageRecord> {
  let found: UsageRecord | undefined;
  await until(async () => {
    found = (await readUsage(prefix)).find((record) => record.id === id);
    return found !== undefined;
  });
  if (!found) throw new Error('unreachable');
  return found;
}
