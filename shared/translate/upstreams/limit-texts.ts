/**
 * Messages of the programs and APIs of Anthropic, OpenAI and Google about an account whose allowance is used up for hours or days. Messages
 * about rate limits have other wording, and name the operator's organization.
 */
const allowances: readonly RegExp[] = [
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

/** Seconds for which an account whose allowance is used up gets no request, if the message does not say how long. */
const defaultWaitSeconds = 300;

const secondsPerUnit: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const unitPattern = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])';
const durationPattern = new RegExp(
  `(?:try again|retry|reset|resets) (?:in|after) ((?:\\d+(?:\\.\\d+)?\\s?${unitPattern}[\\s,]{0,2}(?:and )?)+)`,
  'i',
);
const amountPattern = /(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])/gi;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/**
 * Matches a time with an optional month, day and year before it, and an optional zone: "Oct 6, 1pm (Europe/Paris)", "Dec 3rd, 2026 4:18
 * AM".
 */
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
 * Returns what an upstream's message says about an account whose allowance is used up; undefined for any other message.
 * @param knownSeconds seconds until the allowance begins anew, if the upstream reports them in another place
 */
export function readSpentAllowance(sentence: string, knownSeconds?: number): SpentAllowance | undefined {
  if (!allowances.some((text) => text.test(sentence))) return undefined;
  // A program may report a delay that is shorter than the time in its message, so the longer of both counts.
  const retryAfter = Math.max(knownSeconds ?? 0, readWait(sentence) ?? 0) || defaultWaitSeconds;
  // What follows in the message is for the person who uses the program.
  const [message = ''] = sentence.split(/\n|\|\d/);
  return { message, retryAfter };
}

/**
 * Reads from an upstream's message in how many seconds the upstream accepts requests again; undefined for a message without a time. A time
 * without a zone counts as one in the zone of this machine.
 * @param now milliseconds since 1970
 */
export function readWait(text: string, now = Date.now()): number | undefined {
  const span = durationPattern.exec(text)?.[1];
  if (span !== undefined) {
    const parts = [...span.matchAll(amountPattern)];
    const sum = parts.reduce(
      (all, [, amount, of = '']) => all + Number(amount) * (secondsPerUnit[normalizeUnit(of)] ?? 0),
      0,
    );
    return Math.max(1, sum);
  }
  const [, epoch] = /limit reached\|(\d{10})\b/.exec(text) ?? [];
  if (epoch !== undefined) return Math.max(0, Number(epoch) - now / 1000);
  const [, date, time] = /regain access on (\d{4}-\d\d-\d\d) at (\d\d:\d\d) UTC/.exec(text) ?? [];
  if (date !== undefined) return Math.max(0, (Date.parse(`${date}T${time ?? ''}Z`) - now) / 1000);
  return waitForClock(text, now);
}

function normalizeUnit(written: string): string {
  const lower = written.toLowerCase();
  return lower === 'milli' ? 'ms' : lower;
}

function waitForClock(text: string, now: number): number | undefined {
  const [, month, day, year, hour, minute = '0', half, zone] = clock.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const localNow = clockTimeIn(now, zone);
  const localDate = new Date(localNow);
  const minuteOfDay = ((Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute);
  const monthAt = month === undefined ? localDate.getUTCMonth() : months.indexOf(month.toLowerCase());
  if (monthAt === -1) return undefined;
  const dateOf = (inYear: number): number =>
    Date.UTC(inYear, monthAt, day === undefined ? localDate.getUTCDate() : Number(day)) + minuteOfDay * minuteMs;
  const waitMs = dateOf(year === undefined ? localDate.getUTCFullYear() : Number(year)) - localNow;
  if (waitMs > 0) return waitMs / 1000;
  // A time that has just passed counts as now, because the message has no seconds. Any other past time means tomorrow, or the next year.
  if (waitMs > -5 * minuteMs || year !== undefined) return 60;
  return (day === undefined ? waitMs + dayMs : dateOf(localDate.getUTCFullYear() + 1) - localNow) / 1000;
}

/** Returns the clock time in a zone as the milliseconds since 1970 at which a clock in UTC shows the same time. */
function clockTimeIn(now: number, zone: string | undefined): number {
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
