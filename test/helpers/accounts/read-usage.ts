import { inject } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { openKeyStore } from './open-key-store.ts';

const admin = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };

/** The last 200 requests in the usage ledger of a cluster, newest first. */
export async function readUsage(prefix: string): Promise<UsageRecord[]> {
  const { connection } = await openKeyStore(inject('redisUrl'));
  const usage = new UsageReader(connection.redis, `${prefix}:`);
  return (await usage.requests(admin, {}, 200)).requests;
}
