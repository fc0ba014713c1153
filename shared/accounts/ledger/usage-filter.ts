import { toTotalsRow, type TotalsRow } from './totals.ts';
import { maySee, type UsageFilter, type UsageRecord, type UsageViewer } from './usage-record.ts';

export const usageGroups = ['model', 'key', 'team', 'user', 'tier', 'purpose'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** The fields by which totals can be filtered. Totals do not have the other fields of a filter. */
export type RowFilter = Pick<UsageFilter, UsageGroup>;

export function matchesRow(row: TotalsRow, filter: RowFilter): boolean {
  return usageGroups.every((name) => filter[name] === undefined || filter[name] === row[name]);
}

/** Returns whether a viewer may see a request, and the request matches a filter. */
export function matchesFilter(record: UsageRecord, viewer: UsageViewer, filter: UsageFilter): boolean {
  const { outcome, code, recorded, from = 0, to = Infinity } = filter;
  if (outcome !== undefined && outcome !== record.outcome) return false;
  if (code !== undefined && code !== record.code) return false;
  if (recorded !== undefined && recorded !== (record.recorded === true)) return false;
  if (record.at < from || record.at >= to) return false;
  const row = toTotalsRow(record);
  return maySee(viewer, row) && matchesRow(row, filter);
}

/**
 * Returns false if the text of a record shows that it cannot match. Most records of a large ledger are skipped in this way, without parsing
 * their texts.
 */
export function mayMatch(
  text: string,
  { isAdmin, userId, keyIds, teamIds }: UsageViewer,
  { model, key, team, user, tier, purpose, code, outcome, recorded }: UsageFilter,
): boolean {
  const has = (value: string): boolean => text.includes(JSON.stringify(value));
  if (!isAdmin && !has(userId) && !keyIds.some(has) && !teamIds.some(has)) return false;
  if (recorded === true && !text.includes('"recorded"')) return false;
  // Any outcome but `done` and `cancelled` counts as `failed`, whatever the record calls it.
  const storedOutcome = outcome === 'failed' ? undefined : outcome;
  return [model, key, team, user, tier, purpose, code, storedOutcome].every(
    (value) => value === undefined || value === '' || has(value),
  );
}
