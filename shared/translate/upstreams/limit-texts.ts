/**
 * Messages about an account whose allowance is used up for hours or days, from the programs and APIs of Anthropic, OpenAI and Google.
 * Messages about rate limits have other wording, and name the operator's organization.
 */
const allowancePatterns: readonly RegExp[] = [
  // Claude Code.
  /^You(?:'|’)ve (?:hit|reached) your .{0,40}limit/i,
  /^[\w -]{0,30}\b(?:usage|5-hour|session|weekly|Opus) limit reached/i,
  // Anthropic's API, with status 400.
  /^You have reached your specified API usage limits/,
  // Codex and the API behind it.
  /^The usage limit has been reached/,
  // Gemini CLI.
  /^You have exhausted your .{0,40}(?:quota|capacity)/,
];

/** Seconds without requests to an account whose allowance is used up, if the message gives no time. */
const defaultWaitSeconds = 300;

const secondsPerUnit: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const unitPattern = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])';
const durationPattern = new RegExp(
  `(?:try again|retry|reset|resets) (?:in|after) ((?:\\d+(?:\\.\\d+)?\\s?${unitPattern}[\\s,]{0,2}(?:and )?)+)`,
  'i',
);
const amountPattern = /(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])/gi;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Matches a time. A month, day and year may precede it, and a zone may follow: "Oct 6, 1pm (Europe/Paris)", "Dec 3rd, 2026 4:18 AM". */
const clock =
  /(?:resets|try again) (?:at )?(?:([a-z]{3}) (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?,? (?:at )?)?(\d{1,2})(?::(\d\d))?\s?([ap])m\b(?: \(([\w/+-]{1,40})\))?/i;

const minuteMs = 60_000;
const dayMs = 86_400_000;

export interface SpentAllowance {
  message: string;
  /** Seconds to wait. */
  retryAfter: number;
}

/**
 * Reads an upstream's message about an account whose allowance is used up; undefined for any other message.
 * @param knownSeconds seconds until the allowance begins anew, if the upstream also reports them elsewhere
 */
export function readSpentAllowance(sentence: string, knownSeconds?: number): SpentAllowance | undefined {
  if (!allowancePatterns.some((text) => text.test(sentence))) return undefined;
  // A program may report a shorter delay than the time in its message, so the longer of both counts.
  const retryAfter = Math.max(knownSeconds ?? 0, readWait(sentence) ?? 0) || defaultWaitSeconds;
  // The rest of the message is for the person who uses the program.
  const [message = ''] = sentence.split(/\n|\|\d/);
  return { message, retryAfter };
}

/**
 * Reads the seconds until the upstream accepts requests again from its message; undefined for a message without a time. A time without a
 * zone counts in the zone of this machine.
 * @param now milliseconds since 1970
 */
export function readWait(text: string, now = Date.now()): number | undefined {
  const span = durationPattern.exec(text)?.[1];
  if (span !== undefined) {
    const parts = [...span.matchAll(amountPattern)];
    const sum = parts.reduce(
      (total, [, amount, unit = '']) => total + Number(amount) * (secondsPerUnit[normalizeUnit(unit)] ?? 0),
      0,
    );
    return Math.max(1, sum);
  }
  const [, epoch] = /limit reached\|(\d{10})\b/.exec(text) ?? [];
  if (epoch !== undefined) return Math.max(0, Number(epoch) - now / 1000);
  const [, date, time] = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/.exec(text) ?? [];
  if (date !== undefined) return Math.max(0, (Date.parse(`${date}T${time ?? ''}Z`) - now) / 1000);
  return computeClockWait(text, now);
}

function normalizeUnit(written: string): string {
  const lower = written.toLowerCase();
  return lower === 'milli' ? 'ms' : lower;
}

function computeClockWait(text: string, now: number): number | undefined {
  const [, month, day, year, hour, minute = '0', half, zone] = clock.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const localNow = computeClockTime(now, zone);
  const localDate = new Date(localNow);
  const minuteOfDay = ((Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute);
  const monthIndex = month === undefined ? localDate.getUTCMonth() : months.indexOf(month.toLowerCase());
  if (monthIndex === -1) return undefined;
  const computeDate = (inYear: number): number =>
    Date.UTC(inYear, monthIndex, day === undefined ? localDate.getUTCDate() : Number(day)) + minuteOfDay * minuteMs;
  const waitMs = computeDate(year === undefined ? localDate.getUTCFullYear() : Number(year)) - localNow;
  if (waitMs > 0) return waitMs / 1000;
  // A time that has just passed counts as now, because the message has no seconds. Any other past time means tomorrow, or the next year.
  if (waitMs > -5 * minuteMs || year !== undefined) return 60;
  return (day === undefined ? waitMs + dayMs : computeDate(localDate.getUTCFullYear() + 1) - localNow) / 1000;
}

/** Returns the clock time in a zone, as the milliseconds since 1970 at which a clock in UTC shows that time. */
function computeClockTime(now: number, zone: string | undefined): number {
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
