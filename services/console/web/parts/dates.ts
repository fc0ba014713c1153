import { getTimeZone } from './time-zone.ts';
import type { Period } from '#shared/accounts/periods.ts';
import { formatDateTime } from './format.ts';

/** Returns the date of a time in the chosen time zone, in the form of a date input, for example `2026-11-28`. Empty for an invalid time. */
export function toInputDate(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const [year, month, day] =
    getTimeZone() === 'utc'
      ? [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
      : [date.getFullYear(), date.getMonth(), date.getDate()];
  // The year is padded, because while a year is typed the input has the years 2, 20 and 202.
  return [String(year).padStart(4, '0'), ...[month + 1, day].map((part) => String(part).padStart(2, '0'))].join('-');
}

/** Returns the last second of a day in the chosen time zone; undefined for an empty input or an invalid date. */
export function findEndOfDay(date: string): number | undefined {
  const at = new Date(`${date}T23:59:59${getTimeZone() === 'utc' ? 'Z' : ''}`).getTime();
  return Number.isNaN(at) ? undefined : at;
}

const dayMs = 86_400_000;
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** Returns the dates of a period. Whole days give `Nov 23 – 29, 2026, in UTC`, other periods `since Nov 28, 2026, 5:00 PM`. */
export function formatPeriod({ from, to }: Period): string {
  const hasWholeDays = from % dayMs === 0 && to % dayMs === 0;
  return hasWholeDays ? `${days.formatRange(from, to - 1)}, in UTC` : `since ${formatDateTime(from)}`;
}
