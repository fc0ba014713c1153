import { errorTable, type RouterError } from '#shared/core/errors.ts';

/** `retry-after` seconds for an overloaded or missing worker, if the error names none. */
const defaultRetryAfter = 2;

/**
 * The longest delay, in seconds, after which a client should retry by itself. A longer one means that an upstream account has used up its
 * allowance.
 */
const maxSelfRetrySeconds = 60;

/**
 * Returns the headers that say whether and when clients should retry; the SDKs of OpenAI and Anthropic obey them. `retry-after` is between
 * 1 and 30 whole seconds: one of the SDKs ignores more than 60, and the other would wait for days. After a limit with a longer delay,
 * clients should not retry by themselves.
 */
export function retryHeaders(error: RouterError, status: number): Record<string, string> {
  if (!errorTable[error.code].clientMayRetry || error.hadEffects || outlastsRetries(error)) {
    // Clients do not retry these by themselves; the time is for people, so it has no upper limit.
    const seconds = Math.ceil(error.retryAfter ?? 0);
    return { 'x-should-retry': 'false', ...(seconds > 0 && { 'retry-after': String(seconds) }) };
  }
  const busy = status === 429 || status === 503 || status === 529;
  const seconds = error.retryAfter ?? (busy ? defaultRetryAfter : undefined);
  if (seconds === undefined) return { 'x-should-retry': 'true' };
  return { 'x-should-retry': 'true', 'retry-after': String(Math.min(30, Math.max(1, Math.ceil(seconds) || 1))) };
}

/** Whether an upstream's limit lasts too long for a client to wait for its end. */
export function outlastsRetries({ code, retryAfter }: RouterError): boolean {
  return code === 'rate_limit_exceeded' && retryAfter !== undefined && retryAfter > maxSelfRetrySeconds;
}

export interface ErrorAnswer<Body> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}
