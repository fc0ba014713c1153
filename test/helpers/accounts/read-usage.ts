import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { openKeyStore } from './open-key-store.ts';
import { admin } from './open-ledger.ts';

/** The last 200 requests in the usage ledger of a cluster, newest first. */
export async function readUsage(prefix: string): Promise<UsageRecord[]> {
  const { redis } = await openKeyStore();
  return (await new UsageReader(redis, `${prefix}:`).requests(admin, {}, 200)).requests;
}
