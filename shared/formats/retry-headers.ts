import { errorTable, type RouterError } from '#shared/core/errors.ts';

/** Seconds for an overloaded or missing worker, if the error does not name them. */
const defaultRetryAfter = 2;

/** Seconds that no client is to wait for by itself: an account of an upstream has used up its allowance. */
const longestWait = 60;

/**
 * The headers that say whether and when clients should retry; the SDKs of OpenAI and Anthropic obey them. `retry-after` is
 * between 1 and 30 whole seconds: one of the SDKs ignores more than 60, the other would wait for days. A limit for longer than that is
 * for people to wait for.
 */
export function retryHeaders(error: RouterError, status: number): Record<string, string> {
  if (!errorTable[error.code].clientMayRetry || error.hadEffects || isLongLimit(error)) {
    // Clients do not retry these by themselves; the time is for people, so it has no upper limit.
    const seconds = Math.ceil(error.retryAfter ?? 0);
    return { 'x-should-retry': 'false', ...(seconds > 0 && { 'retry-after': String(seconds) }) };
  }
  const busy = status === 429 || status === 503 || status === 529;
  const seconds = error.retryAfter ?? (busy ? defaultRetryAfter : undefined);
  if (seconds === undefined) return { 'x-should-retry': 'true' };
  return { 'x-should-retry': 'true', 'retry-after': String(Math.min(30, Math.max(1, Math.ceil(seconds) || 1))) };
}

/** Whether an upstream's limit lasts for too long for a client to wait for it. */
export function isLongLimit({ code, retryAfter }: RouterError): boolean {
  return code === 'rate_limit_exceeded' && retryAfter !== undefined && retryAfter > longestWait;
}

/** The answer to a failed request in one format. */
export interface ErrorAnswer<Body> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}
