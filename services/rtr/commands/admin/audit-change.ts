import { differences } from './apply/differences.ts';
import { differenceText, valueText } from './apply/print-changes.ts';

/**
 * Describes a change of the audit trail, such as `limits.costPerDay: 5 → 10` or `member → admin`, and its other details, such as
 * `overlapMs=0`.
 * @param details details of the entry in the audit trail
 */
export function changeText({ before, after, ...details }: Readonly<Record<string, unknown>>): string {
  const others = Object.entries(details).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name}=${textOf(value)}`],
  );
  return [...changesOf(before, after), ...others].join(', ') || '-';
}

function changesOf(before: unknown, after: unknown): string[] {
  if (isObject(after)) return differences(isObject(before) ? before : undefined, after).map(differenceText);
  return before === undefined && after === undefined ? [] : [`${valueText('', before)} → ${valueText('', after)}`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return isObject(value) && typeof value['name'] === 'string' ? value['name'] : valueText('', value);
}
