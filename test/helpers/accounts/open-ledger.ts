import { onTestFinished } from 'vitest';
import { UsageLedger, type UsageLedgerBounds } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { silentLog } from '../silent-log.ts';
import { openKeyStore, type OpenKeyStore } from './open-key-store.ts';

const dayMs = 86_400_000;

/** A viewer who sees everybody's use. */
export const admin: UsageViewer = { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] };

/** Returns a viewer who sees the own use, and that of these teams. */
export function member(userId: string, ...teamIds: string[]): UsageViewer {
  return { userId, isAdmin: false, keyIds: [], teamIds };
}

/**
 * Opens a ledger for the running test, with a reader.
 * @param of store of the ledger; default: one of its own
 */
export async function openLedger(bounds: Partial<UsageLedgerBounds> = {}, of?: Pick<OpenKeyStore, 'redis' | 'prefix'>) {
  const { redis, prefix } = of ?? (await openKeyStore());
  const another = (): UsageLedger => {
    const made = new UsageLedger(redis, prefix, silentLog, {
      maxRequests: 10_000,
      requestsKeptMs: 30 * dayMs,
      ...bounds,
    });
    onTestFinished(() => made.close());
    return made;
  };
  return {
    ledger: another(),
    /** Writes records, as one process does from its start to its end. */
    write: async (...records: UsageRecord[]): Promise<void> => {
      const writer = another();
      for (const record of records) writer.add(record);
      await writer.close();
    },
    reader: new UsageReader(redis, prefix),
    redis,
    prefix,
  };
}

/** Writes requests into the ledger of a store, which keeps the newest 5,000 for the duration of the test. */
export async function writeLedger(of: Pick<OpenKeyStore, 'redis' | 'prefix'>, records: readonly UsageRecord[]) {
  const { write } = await openLedger({ maxRequests: 5_000, requestsKeptMs: 1e12 }, of);
  await write(...records);
}
