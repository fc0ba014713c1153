import { isJsonObject } from '#shared/core/json.ts';
import { findDifferences } from './apply/find-differences.ts';
import { formatDifference, formatValue } from './apply/print-changes.ts';

/**
 * Describes a change from the details of its entry in the audit trail: the changed values, such as `limits.costPerDay: 5 → 10` or
 * `member → admin`, and other details, such as `overlapMs=0`.
 */
export function describeChange({ before, after, ...details }: Readonly<Record<string, unknown>>): string {
  const others = Object.entries(details).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name}=${formatDetail(value)}`],
  );
  return [...describeValues(before, after), ...others].join(', ') || '-';
}

function describeValues(before: unknown, after: unknown): string[] {
  if (isJsonObject(after))
    return findDifferences(isJsonObject(before) ? before : undefined, after).map(formatDifference);
  return before === undefined && after === undefined ? [] : [`${formatValue('', before)} → ${formatValue('', after)}`];
}

function formatDetail(value: unknown): string {
  return isJsonObject(value) && typeof value['name'] === 'string' ? value['name'] : formatValue('', value);
}
