import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import type { LedgerEntry } from './judge-ledger.ts';

const everybody = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };

export async function readLedger({
  accounts,
  prefix,
}: Pick<ChaosCluster, 'accounts' | 'prefix'>): Promise<LedgerEntry[]> {
  const reader = new UsageReader(accounts.redis, `${prefix}:`);
  const entries: LedgerEntry[] = [];
  let before: string | undefined;
  do {
    const { requests, next } = await reader.listRequests(everybody, {}, 100_000, before);
    entries.push(...requests);
    before = next;
  } while (before !== undefined);
  return entries;
}
