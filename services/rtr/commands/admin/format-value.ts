import { isJsonObject } from '#shared/core/json.ts';
import { formatMinute } from '../table-lines.ts';
import { findDifferences } from './apply/find-differences.ts';
import { formatDifference, formatValue } from './apply/print-changes.ts';

/** Names of fields that contain a time in milliseconds since 1970. */
const timeName = /(?:^(?:at|since|from|to|until)|At)$/;

/**
 * Formats a value of an answer for a cell or a line: times in UTC, lists with commas, objects by their name or as `a=1 b=2`. An absent
 * value is an empty text.
 * @param name the field that has the value
 */
export function formatAnswerValue(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return timeName.test(name) ? formatMinute(value) : formatNumber(name, value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    const texts = value.map((item) => formatAnswerValue(name, item)).filter((text) => text !== '');
    return [...new Set(texts)].join(', ');
  }
  return isJsonObject(value) ? formatObject(name, value) : JSON.stringify(value);
}

/** Returns named values as `a=1 b=2`; empty without values. */
export function formatValues(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : formatAnswerValue(name, value)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${toKebabCase(name)}=${text}`)
    .join(' ');
}

/** Converts `requestsPerMinute` into `requests-per-minute`, the form of options and values on the command line. */
export function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function formatObject(field: string, value: Readonly<Record<string, unknown>>): string {
  if (field === 'details') return describeChange(value);
  const { name, kind, role, email } = value;
  if (typeof email === 'string') return typeof role === 'string' ? `${email} (${role})` : email;
  if (typeof name !== 'string') return formatValues(value);
  return typeof kind === 'string' ? `${kind} ${name || String(value['id'])}` : name;
}

function formatNumber(name: string, value: number): string {
  if (/(?:Ms|^ms)$/.test(name)) return String(Math.round(value));
  return String(Number(value.toFixed(6)));
}

/**
 * Describes a change from the details of its entry in the audit trail: the changed values, such as `limits.costPerDay: 5 → 10` or
 * `member → admin`, and other details, such as `overlapMs=0`.
 */
function describeChange({ before, after, ...details }: Readonly<Record<string, unknown>>): string {
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
