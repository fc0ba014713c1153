import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { createLog } from '#shared/core/log.ts';
import type { OpenKeyStore } from './open-key-store.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });

/** Writes requests into the ledger, which keeps the newest 5,000 for as long as the test runs. */
export async function writeLedger(
  { connection, prefix }: Pick<OpenKeyStore, 'connection' | 'prefix'>,
  records: readonly UsageRecord[],
): Promise<void> {
  const ledger = new UsageLedger(connection.redis, prefix, log, { maxRequests: 5_000, requestsKeptMs: 1e12 });
  for (const each of records) ledger.add(each);
  await ledger.close();
}
