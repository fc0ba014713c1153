import { InvalidArgumentError } from 'commander';
import { computeLastUnits, namedPeriods, computeNamedPeriod, type NamedPeriod } from '#shared/accounts/periods.ts';

const units = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * Reads a time in the past: a date, a date and time (UTC unless it has a zone), or a period until now, such as `7d`, `12h` or `2w`. For a
 * period, returns its beginning. Days are UTC days. A period in days includes today, as in all usage reports.
 * @returns milliseconds since 1970
 */
export function readPastTime(text: string, now = Date.now()): number {
  const span = parseSpan(text);
  if (!span) return readTime(text);
  const { count, unit } = span;
  if (text in namedPeriods) return computeNamedPeriod(text as NamedPeriod, now).from;
  return unit === 'h'
    ? computeLastUnits('hour', count, now).from
    : computeLastUnits('day', unit === 'w' ? 7 * count : count, now).from;
}

/** Reads a time in the future, in milliseconds since 1970: a date, or a span from now such as `30d`; `none` for never. */
export function readFutureTime(text: string): number | 'none' {
  if (text === 'none') return text;
  const span = parseSpan(text);
  return span ? Date.now() + span.count * units[span.unit] : readTime(text);
}

/** Reads a span such as `12h`, `7d` or `2w`, in milliseconds. */
export function readSpan(text: string): number {
  const span = parseSpan(text);
  if (span) return span.count * units[span.unit];
  throw new InvalidArgumentError('must be a span such as 12h, 7d or 2w.');
}

/** Reads a span such as `30m`, `12h`, `7d` or `2w`, in minutes. */
export function readMinutes(text: string): number {
  const [, minutes] = /^(\d{1,5})m$/.exec(text) ?? [];
  if (minutes !== undefined) return Number(minutes);
  const span = parseSpan(text);
  if (span) return (span.count * units[span.unit]) / 60_000;
  throw new InvalidArgumentError('must be a span such as 30m, 12h or 7d.');
}

function parseSpan(text: string): { count: number; unit: keyof typeof units } | undefined {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  return count === undefined || unit === undefined
    ? undefined
    : { count: Number(count), unit: unit as keyof typeof units };
}

function readTime(text: string): number {
  const time = parseDateTime(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'must be a date such as 2026-11-24, a time such as 2026-11-24T16:05, or a span such as 12h, 7d or 2w.',
  );
}

const dateTimeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Whether a day exists. `Date` cannot tell, because it accepts 31 days in every month.
 * @param text such as `2030-02-28`
 */
function isDay(text: string): boolean {
  return new Date(`${text}T00:00Z`).toISOString().startsWith(text);
}

/**
 * Parses `2026-11-24` or `2026-11-24T16:05[:00][Z|+01:00]`, in UTC unless the text has a zone.
 * @returns milliseconds since 1970; undefined for any other text
 */
export function parseDateTime(text: string): number | undefined {
  const match = dateTimeForm.exec(text);
  if (!match) return undefined;
  const hasNoZone = text.includes('T') && match.groups?.['zone'] === undefined;
  const time = Date.parse(hasNoZone ? `${text}Z` : text);
  return Number.isNaN(time) || !isDay(text.slice(0, 10)) ? undefined : time;
}
