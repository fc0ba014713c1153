import type { IncomingHttpHeaders } from 'node:http';

/** What is left of one of a provider's limits. */
export interface RateLimit {
  /** The provider's name for it. */
  name: string;
  of: 'requests' | 'tokens';
  /** What a whole window allows, where it is told. */
  limit: number | undefined;
  remaining: number;
  /** Milliseconds until the window begins anew. */
  resetMs: number;
}

/** How long a window is taken to be whose end is not told: limits are by the minute, most of them. */
const defaultWindowMs = 60_000;

/** `anthropic-ratelimit-input-tokens-remaining`: first which limit, then what of it. */
const messagesName = /^anthropic-ratelimit-(.+)-(limit|remaining|reset)$/;

/** `x-ratelimit-remaining-tokens`: first what of it, then which limit. Some have one limit, without a name. */
const chatName = /^x-ratelimit-(limit|remaining|reset)(?:-(.+))?$/;

/**
 * The limits that an answer's headers tell of, in the names of both formats (Anthropic API reference, "Rate limits";
 * OpenAI API reference, "Rate limits", which Azure, Groq, Cerebras, Together, Mistral and others have taken over).
 * @param now milliseconds since 1970
 */
export function readRateLimits(headers: IncomingHttpHeaders, now: number): RateLimit[] {
  const found = new Map<string, Record<string, string>>();
  for (const [header, value] of Object.entries(headers)) {
    const [name, part] = partsOf(header);
    if (name === undefined || part === undefined || typeof value !== 'string') continue;
    found.set(name, { ...found.get(name), [part]: value });
  }
  return [...found].flatMap(([name, { limit, remaining, reset }]) => {
    const left = readCount(remaining);
    if (left === undefined) return [];
    const of = name.includes('token') ? 'tokens' : 'requests';
    const resetMs = readReset(reset, now) ?? windowOf(name);
    return [{ name, of, limit: readCount(limit), remaining: left, resetMs }];
  });
}

function partsOf(header: string): [string | undefined, string | undefined] {
  const messages = messagesName.exec(header);
  if (messages) return [messages[1], messages[2]];
  const chat = chatName.exec(header);
  return chat ? [chat[2] ?? 'requests', chat[1]] : [undefined, undefined];
}

function readCount(text: string | undefined): number | undefined {
  const count = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(count) && count >= 0 ? count : undefined;
}

function windowOf(name: string): number {
  if (name.endsWith('second')) return 1000;
  return defaultWindowMs;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A date (RFC 3339), a length as `6m0s` or `12ms`, seconds to go, or a point in time in seconds or milliseconds since 1970. */
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
