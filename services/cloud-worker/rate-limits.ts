import type { IncomingHttpHeaders } from 'node:http';

export interface RateLimit {
  /** The provider's name of the limit. */
  name: string;
  unit: 'requests' | 'tokens';
  /** Size of a whole window; undefined if not reported. */
  limit: number | undefined;
  remaining: number;
  resetMs: number;
}

/** Milliseconds assumed for a window whose end is not reported, because most limits are per minute. */
const defaultWindowMs = 60_000;

/** Matches, for example, `anthropic-ratelimit-input-tokens-remaining`: the limit's name comes first, then the property. */
const messagesHeader = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/;

/**
 * Matches, for example, `x-ratelimit-remaining-tokens`: the property comes first, then the limit's name. Some providers have a single limit
 * without a name.
 */
const chatHeader = /^x-ratelimit-(limit|remaining|reset)(?:-(.+))?$/;

/**
 * Reads the rate limits from the headers of an answer. Supports the header names of Anthropic (API reference, "Rate limits") and of OpenAI
 * (API reference, "Rate limits"). Azure, Groq, Cerebras, Together, Mistral and others use OpenAI's names.
 * @param now milliseconds since 1970
 */
export function readRateLimits(headers: IncomingHttpHeaders, now: number): RateLimit[] {
  const valuesByLimit = new Map<string, Record<string, string>>();
  for (const [header, value] of Object.entries(headers)) {
    const [name, part] = parseHeaderName(header);
    if (name === undefined || part === undefined || typeof value !== 'string') continue;
    valuesByLimit.set(name, { ...valuesByLimit.get(name), [part]: value });
  }
  return [...valuesByLimit].flatMap(([name, { limit, remaining, reset }]) => {
    const remainingCount = readCount(remaining);
    if (remainingCount === undefined) return [];
    const unit = name.includes('token') ? 'tokens' : 'requests';
    const resetMs = readReset(reset, now) ?? findWindowMs(name);
    return [{ name, unit, limit: readCount(limit), remaining: remainingCount, resetMs }];
  });
}

function parseHeaderName(header: string): [string | undefined, string | undefined] {
  const messages = messagesHeader.exec(header);
  if (messages) return [messages[1], messages[2]];
  const chat = chatHeader.exec(header);
  return chat ? [chat[2] ?? 'requests', chat[1]] : [undefined, undefined];
}

function readCount(text: string | undefined): number | undefined {
  const count = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(count) && count >= 0 ? count : undefined;
}

function findWindowMs(name: string): number {
  if (name.endsWith('second')) return 1000;
  return defaultWindowMs;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a date (RFC 3339), a duration such as `6m0s` or `12ms`, a number of seconds, or a Unix time in seconds or milliseconds. */
function readReset(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = readCount(text);
  if (seconds !== undefined) {
    if (seconds > 1e12) return Math.max(0, seconds - now);
    return seconds > 1e9 ? Math.max(0, seconds * 1000 - now) : seconds * 1000;
  }
  if (/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) {
    let ms = 0;
    for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
      ms += Number(count) * (unitMs[unit ?? ''] ?? 0);
    }
    return ms;
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
