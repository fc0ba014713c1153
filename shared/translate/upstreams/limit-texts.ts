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

/** Seconds after which an account gets a request again, if its allowance is used up and the message does not say until when. */
const unknownWait = 300;

const seconds: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const unit = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])';
const duration = new RegExp(
  `(?:try again|retry|reset|resets) (?:in|after) ((?:\\d+(?:\\.\\d+)?\\s?${unit}[\\s,]{0,2}(?:and )?)+)`,
  'i',
);
const amounts = /(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])/gi;

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
  retryAfter: number;
}

/**
 * Reads from an upstream's message that an account's allowance is used up. Returns undefined for any other refusal.
 * @param known seconds until the allowance begins anew, if the upstream reports them in another place
 */
export function readSpentAllowance(sentence: string, known?: number): SpentAllowance | undefined {
  if (!allowances.some((text) => text.test(sentence))) return undefined;
  // The delay that a program uses for itself is shorter than the time in its message, so the longer one counts.
  const retryAfter = Math.max(known ?? 0, readWait(sentence) ?? 0) || unknownWait;
  // The rest of the message is for the person at the program.
  const [message = ''] = sentence.split(/\n|\|\d/);
  return { message, retryAfter };
}

/**
 * Returns the seconds, at least one, until an upstream accepts requests again, read from its message; undefined for a message without a
 * time. A time without a zone is in the zone of this machine.
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
  const here = clockTimeIn(now, zone);
  const of = new Date(here);
  const at = ((Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0)) * 60 + Number(minute);
  const monthAt = month === undefined ? of.getUTCMonth() : months.indexOf(month.toLowerCase());
  if (monthAt === -1) return undefined;
  const dateOf = (inYear: number): number =>
    Date.UTC(inYear, monthAt, day === undefined ? of.getUTCDate() : Number(day)) + at * minuteMs;
  const waitMs = dateOf(year === undefined ? of.getUTCFullYear() : Number(year)) - here;
  if (waitMs > 0) return waitMs / 1000;
  // The message has no seconds, so the time may have just passed. Otherwise the time is that of tomorrow, or of the next year.
  if (waitMs > -5 * minuteMs || year !== undefined) return 60;
  return (day === undefined ? waitMs + dayMs : dateOf(of.getUTCFullYear() + 1) - here) / 1000;
}

/** Returns the clock time in a zone as if it were UTC: milliseconds since 1970. */
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
