import { toAgentSessionArgs, sessionScript } from './agent-sessions/session-entry.ts';
import { findBeginning, computeExpiry, toPeriodName, type TotalsUnit, totalsKeptMs } from '../periods.ts';
import { computeMaxIdsPerHash, maxOlderHashes } from './request-index.ts';
import { maxSpanOwners, toOwnerName, toSpanArgs } from './span-sums.ts';
import {
  addTotals,
  countNames,
  encodeRow,
  createZeroTotals,
  otherRow,
  toTotalsRow,
  computeTotals,
  type UsageTotals,
} from './totals.ts';
import type { UsageRecord } from './usage-record.ts';

/** The script with the functions that store names of keys. It is prepended to scripts that call them. */
export const keyNamesScript = new URL('lua/key-names.lua', import.meta.url);

/** The scripts that define `writeUsage`. They are prepended to each script that writes into the ledger. */
export const ledgerScripts: readonly URL[] = [
  sessionScript,
  keyNamesScript,
  new URL('lua/ledger.lua', import.meta.url),
];

export interface LedgerEntry {
  args: Readonly<Record<string, unknown>>;
  /** One JSON text for each request, for the script's ARGV. */
  texts: string[];
}

export interface LedgerEntryBounds {
  prefix: string;
  /** For this and the following bounds, see `UsageLedgerBounds`. */
  maxRequests: number;
  requestsKeptMs: number;
  maxFields: number;
  maxKeyNames?: number;
  sessionsKeptMs: number;
}

export function toLedgerEntry(
  records: readonly UsageRecord[],
  { prefix, maxRequests, requestsKeptMs, maxFields, maxKeyNames, sessionsKeptMs }: LedgerEntryBounds,
): LedgerEntry {
  return {
    args: {
      prefix,
      maxRequests,
      oldest: Date.now() - requestsKeptMs,
      keptMs: requestsKeptMs,
      ids: records.map((record) => [record.id, toOwnerName(record)]),
      idsAtOnce: computeMaxIdsPerHash(maxRequests),
      olderIds: maxOlderHashes,
      maxFields,
      keyNames: Object.fromEntries(records.map(({ key }) => [key.id, key.name])),
      keyNameBounds: toKeyNameBounds(maxKeyNames),
      totals: sumByRow(records),
      maxOwners: maxSpanOwners,
      spans: toSpanArgs(records),
      sessions: toAgentSessionArgs(records, sessionsKeptMs),
    },
    texts: records.map((record) => JSON.stringify(record)),
  };
}

interface Period {
  name: string;
  /** In ms since 1970. */
  beginning: number;
  /** When its totals expire, in ms since 1970. */
  expiry: number;
}

function toPeriod(step: TotalsUnit, at: number): Period {
  const beginning = findBeginning(step, at);
  return { name: toPeriodName(step, beginning), beginning, expiry: computeExpiry(step, beginning) };
}

/** Computes what requests add to each row of each day and month, in the form for the script. */
function sumByRow(records: readonly UsageRecord[]) {
  const rows = new Map<
    string,
    { period: string; expiresAt: number; row: string; substitute: string; sum: UsageTotals }
  >();
  // The periods are kept from one request to the next, because nearly all requests that are written together began on the same day.
  let periods: Period[] = [];
  for (const record of records) {
    const totalsRow = toTotalsRow(record);
    const row = encodeRow(totalsRow);
    const day = findBeginning('day', record.at);
    if (periods[0]?.beginning !== day) periods = [toPeriod('day', day), toPeriod('month', record.at)];
    for (const { name, expiry } of periods) {
      let total = rows.get(name + row);
      if (!total) {
        const substitute = encodeRow({
          key: otherRow,
          user: '',
          team: '',
          tier: totalsRow.tier,
          model: otherRow,
          purpose: '',
        });
        total = { period: name, expiresAt: expiry, row, substitute, sum: createZeroTotals() };
        rows.set(name + row, total);
      }
      addTotals(total.sum, computeTotals(record));
    }
  }
  return [...rows.values()].map(({ sum, ...total }) => ({ ...total, counts: countNames.map((name) => sum[name]) }));
}

/** Maximum number of names of keys that are kept. */
const maxKeyNames = 200_000;

/**
 * Returns the bounds of names that are written now, in the form for the scripts. After the last use of a key, its name is kept as long as
 * monthly totals are kept.
 */
export function toKeyNameBounds(maxNames = maxKeyNames) {
  const now = Date.now();
  return { at: now, oldest: now - totalsKeptMs.month, maxNames };
}
