import { getTimeZone, type TimeZone } from './time-zone.ts';

const wholeNumbers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compactNumbers = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const shortNumbers = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const timeFormats: Record<TimeZone, TimeFormats> = {
  local: createTimeFormats(undefined),
  utc: createTimeFormats('UTC'),
};
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

export const formatCount = (value: number): string => wholeNumbers.format(value);
/** Formats a number, for example as `1.2M`. */
export const formatShort = (value: number): string =>
  Math.abs(value) < 10_000 ? shortNumbers.format(value) : compactNumbers.format(value);
/*
 * All times are in the chosen time zone. Times in UTC are marked as such. An invalid time is shown as `unknown`.
 */
export const formatDateTime = (at: number): string => timeFormats[getTimeZone()].dateTime(at);
/** The date and time with seconds. */
export const formatExact = (at: number): string => timeFormats[getTimeZone()].exact(at);
export const formatClock = (at: number): string => timeFormats[getTimeZone()].clock(at);
/** The time of day, with the date unless it is today. */
export const formatMoment = (at: number, now = Date.now()): string =>
  formatDay(at) === formatDay(now) ? formatClock(at) : formatDateTime(at);
export const formatDay = (at: number): string => timeFormats[getTimeZone()].day(at);

type TimeFormat = (at: number) => string;
type TimeFormats = Record<'dateTime' | 'exact' | 'clock' | 'day', TimeFormat>;

function createTimeFormats(zone: 'UTC' | undefined): TimeFormats {
  const formatWith = (options: Intl.DateTimeFormatOptions, mark = ''): TimeFormat => {
    const format = new Intl.DateTimeFormat(undefined, { ...options, ...(zone && { timeZone: zone }) });
    return (at) => (Number.isNaN(new Date(at).getTime()) ? 'unknown' : format.format(at) + mark);
  };
  const mark = zone === undefined ? '' : ` ${zone}`;
  return {
    dateTime: formatWith({ dateStyle: 'medium', timeStyle: 'short' }, mark),
    exact: formatWith({ dateStyle: 'medium', timeStyle: 'medium' }, mark),
    clock: formatWith({ timeStyle: 'medium' }, mark),
    day: formatWith({ dateStyle: 'medium' }),
  };
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats bytes in powers of 1,024, for example as `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${shortNumbers.format(bytes / 1_024 ** power)} ${byteUnits[power] ?? ''}`;
}

/** Formats US dollars. Amounts below a dollar have up to four decimals. */
export function formatMoney(dollars: number): string {
  if (dollars > 0 && dollars < 0.0001) return '< $0.0001';
  const maxDecimals = dollars !== 0 && Math.abs(dollars) < 1 ? 4 : 2;
  return `$${dollars.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: maxDecimals })}`;
}

/** Formats a duration, for example as `12 ms`, `3.4 s` or `5 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${shortNumbers.format(milliseconds / 1_000)} s`;
  if (milliseconds < 3_600_000) return `${Math.round(milliseconds / 60_000)} min`;
  if (milliseconds < 172_800_000) return `${Math.round(milliseconds / 3_600_000)} h`;
  return `${Math.round(milliseconds / 86_400_000)} days`;
}

/** Formats a time by its distance from now, for example as `5 minutes ago` or `in 3 days`. */
export function formatAgo(at: number, now = Date.now()): string {
  const seconds = Math.round((at - now) / 1_000);
  const size = Math.abs(seconds);
  // Future times are rounded, so that an expiry in 7 days is still shown as 7 days a moment later.
  const round = seconds > 0 ? Math.round : Math.trunc;
  if (size < 60) return seconds > 0 ? 'in a moment' : 'just now';
  if (size < 3_600) return relative.format(round(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(round(seconds / 3_600), 'hour');
  if (size < 30 * 86_400) return relative.format(round(seconds / 86_400), 'day');
  return formatDay(at);
}

/** Formats tokens in powers of two, in which context windows are stated, for example as `128K`. */
export function formatTokens(tokens: number): string {
  if (tokens >= 1_048_576 && tokens % 1_048_576 === 0) return `${tokens / 1_048_576}M`;
  if (tokens >= 1_024 && tokens % 1_024 === 0) return `${tokens / 1_024}K`;
  return compactNumbers.format(tokens);
}

export interface UnitsUsed {
  images?: number | undefined;
  seconds?: number | undefined;
  characters?: number | undefined;
  searches?: number | undefined;
}

/** Returns the units in words, for example `2 images, 90 s of sound`; undefined if there are none. */
export function formatUnits({ images = 0, seconds = 0, characters = 0, searches = 0 }: UnitsUsed): string | undefined {
  const parts = [
    images > 0 ? `${formatCount(images)} ${images === 1 ? 'image' : 'images'}` : '',
    seconds > 0 ? `${formatCount(seconds)} s of sound` : '',
    characters > 0 ? `${formatCount(characters)} ${characters === 1 ? 'character' : 'characters'} spoken` : '',
    searches > 0 ? `${formatCount(searches)} web ${searches === 1 ? 'search' : 'searches'}` : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join(', ') : undefined;
}
