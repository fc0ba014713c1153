/**
 * What the programs of Anthropic, OpenAI and Google, and their APIs, say of an account whose allowance is used up, for hours or days.
 * Limits of rates are worded otherwise, and name the operator's organization.
 */
const allowances: readonly RegExp[] = [
  // Claude Code.
  /^You(?:'|’)ve (?:hit|reached) your .{0,40}limit/i,
  /^[\w -]{0,30}\b(?:usage|5-hour|session|weekly|Opus) limit reached/i,
  // Anthropic's API, with status 400.
  /^You have reached your specified API usage limits/,
  // Codex, and what it asks.
  /^The usage limit has been reached/,
  // Gemini CLI.
  /^You have exhausted your .{0,40}(?:quota|capacity)/,
];

/** Seconds until an allowance is asked for again whose end is not known. */
const unknownWait = 300;

const seconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const unit = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])';
const duration = new RegExp(
  `(?:try again|retry|reset|resets) (?:in|after) ((?:\\d+(?:\\.\\d+)?\\s?${unit}[\\s,]{0,2}(?:and )?)+)`,
  'i',
);
const amounts = /(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])/gi;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** A month, a day and a year where it is not today, a time, and a zone: "Oct 6, 1pm (Europe/Paris)", "Dec 3rd, 2026 4:18 AM". */
const clock =
  /(?:resets|try again) (?:at )?(?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d\d))?\s?([ap])m\b(?: \(([\w/+-]{1,40})\))?/i;

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** An allowance of an account that is used up. */
export interface SpentAllowance {
  /** What the upstream says of it, for clients. */
  message: string;
  /** Seconds until it begins anew, or is to be asked for again. */
  retryAfter: number;
}

/**
 * Reads that an account's allowance is used up; undefined for any other refusal.
 * @param known seconds until it begins anew, where the upstream says so elsewhere
 */
export function readSpentAllowance(sentence: string, known?: number): SpentAllowance | undefined {
  if (!allowances.some((text) => text.test(sentence))) return undefined;
  // What a program waits for by itself, in place of its user, is shorter than its words say.
  const retryAfter = Math.max(known ?? 0, readWait(sentence) ?? 0) || unknownWait;
  // What follows is for whoever sits before the program.
  const [message = ''] = sentence.split(/\n|\|\d/);
  return { message, retryAfter };
}

/**
 * Seconds, at least one, until an upstream takes requests again, by its words; undefined where they name no time. Times without a zone are
 * those of this machine.
 * @param now milliseconds since 1970
 */
export function readWait(sentence: string, now = Date.now()): number | undefined {
  const span = duration.exec(sentence)?.[1];
  if (span !== undefined) {
    const parts = [...span.matchAll(amounts)];
    const sum = parts.reduce((all, [, amount, of = '']) => all + Number(amount) * (seconds[unitOf(of)] ?? 0), 0);
    return Math.max(1, sum);
  }
  const [, epoch] = /limit reached\|(\d{10})\b/.exec(sentence) ?? [];
  if (epoch !== undefined) return Math.max(0, Number(epoch) - now / 1000);
  const [, date, time] = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/.exec(sentence) ?? [];
  if (date !== undefined) return Math.max(0, (Date.parse(`${date}T${time ?? ''}Z`) - now) / 1000);
  return waitForClock(sentence, now);
}

function unitOf(written: string): string {
  const lower = written.toLowerCase();
  return lower === 'milli' ? 'ms' : lower;
}

function waitForClock(sentence: string, now: number): number | undefined {
  const [, month, day, year, hour, minute = '0', half, zone] = clock.exec(sentence) ?? [];
  if (hour === undefined) return undefined;
  const here = wallClock(now, zone);
  const of = new Date(here);
  const at = ((Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute);
  const monthAt = month === undefined ? of.getUTCMonth() : months.indexOf(month.toLowerCase());
  if (monthAt === -1) return undefined;
  const dateOf = (inYear: number): number =>
    Date.UTC(inYear, monthAt, day === undefined ? of.getUTCDate() : Number(day)) + at * minuteMs;
  const waitMs = dateOf(year === undefined ? of.getUTCFullYear() : Number(year)) - here;
  if (waitMs > 0) return waitMs / 1000;
  // Seconds are not named, so the time may be over by a moment; else it is that of tomorrow, or of the next year.
  if (waitMs > -5 * minuteMs || year !== undefined) return 60;
  return (day === undefined ? waitMs + dayMs : dateOf(of.getUTCFullYear() + 1) - here) / 1000;
}

/** What a clock shows in a zone, as if it were UTC: milliseconds since 1970. */
function wallClock(now: number, zone: string | undefined): number {
  const timeZone = zone !== undefined && isZone(zone) ? zone : undefined;
  const clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${clock.format(now).replace(' ', 'T')}Z`);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}
