import { rowOf, type TotalsRow } from './totals.ts';
import { sees, type UsageFilter, type UsageRecord, type UsageViewer } from './usage-record.ts';

/** What a report can be grouped by. */
export const usageGroups = ['model', 'key', 'team', 'user', 'tier', 'purpose'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** What totals can be narrowed to; the rest is known of single requests only. */
export type RowFilter = Pick<UsageFilter, UsageGroup>;

/** Whether a row of totals is what a filter asks for. */
export function isOf(row: TotalsRow, filter: RowFilter): boolean {
  return usageGroups.every((name) => filter[name] === undefined || filter[name] === row[name]);
}

/** Whether a viewer may see a request, and a filter lets it through. */
export function passes(record: UsageRecord, viewer: UsageViewer, filter: UsageFilter): boolean {
  const { outcome, code, recorded, from = 0, to = Infinity } = filter;
  if (outcome !== undefined && outcome !== record.outcome) return false;
  if (code !== undefined && code !== record.code) return false;
  if (recorded !== undefined && recorded !== (record.recorded === true)) return false;
  if (record.at < from || record.at >= to) return false;
  const row = rowOf(record);
  return sees(viewer, row) && isOf(row, filter);
}

/** False for the text of a record that cannot pass, which is then not read: most of a large ledger is not what is asked for. */
export function mayPass(
  text: string,
  { isAdmin, userId, keyIds, teamIds }: UsageViewer,
  { model, key, team, user, tier, purpose, code, outcome, recorded }: UsageFilter,
): boolean {
  const has = (value: string): boolean => text.includes(JSON.stringify(value));
  if (!isAdmin && !has(userId) && !keyIds.some(has) && !teamIds.some(has)) return false;
  if (recorded === true && !text.includes('"recorded"')) return false;
  // Whatever is neither done nor cancelled has failed, in whichever word.
  const exact = outcome === 'failed' ? undefined : outcome;
  return [model, key, team, user, tier, purpose, code, exact].every(
    (value) => value === undefined || value === '' || has(value),
  );
}
