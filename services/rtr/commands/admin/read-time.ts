import { InvalidArgumentError } from 'commander';
import type { OrNone } from './named-values.ts';

const units = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Reads a time of the past: a date or date and time (UTC unless it says otherwise), or how long ago, as `7d`, `12h`, `2w`. */
export function pastTime(text: string): number {
  return readTime(text, -1);
}

/** Reads a time to come: a date, or in how long, as `30d`; `none` for never. */
export function futureTime(text: string): OrNone<number> {
  return text === 'none' ? text : readTime(text, 1);
}

function readTime(text: string, sign: 1 | -1): number {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined)
    return Date.now() + sign * Number(count) * units[unit as 'h' | 'd' | 'w'];
  const time = dateTime(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'must be a date as 2026-11-24, a time as 2026-11-24T16:05, or a span as 12h, 7d or 2w.',
  );
}

const form = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/;

/** Whether a day exists: dates are read as if months had 31 days. @param text as `2030-02-28` */
function isDay(text: string): boolean {
  return new Date(`${text}T00:00Z`).toISOString().startsWith(text);
}

/** Milliseconds since 1970 of `2026-11-24` or `2026-11-24T16:05[:00][Z|+01:00]`, in UTC unless it says otherwise. */
export function dateTime(text: string): number | undefined {
  const found = form.exec(text);
  if (!found) return undefined;
  const isLocal = text.includes('T') && found.groups?.['zone'] === undefined;
  const time = Date.parse(isLocal ? `${text}Z` : text);
  return Number.isNaN(time) || !isDay(text.slice(0, 10)) ? undefined : time;
}
