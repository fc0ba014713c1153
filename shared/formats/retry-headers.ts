import { errorTable, type RouterError } from '#shared/core/errors.ts';

/** Seconds of `retry-after` for the statuses 429, 503 and 529 if the error has no delay of its own. */
const defaultRetryAfter = 2;

/**
 * The longest delay, in seconds, after which a client should retry without asking its user. A longer rate limit means that an upstream
 * account has used up its allowance.
 */
const maxSelfRetrySeconds = 60;

/**
 * Returns the headers that say whether and when clients should retry. The SDKs of OpenAI and Anthropic obey these headers. If a retry makes
 * sense, `retry-after` is a whole number of seconds from 1 to 30. OpenAI's SDK ignores values above 60, and Anthropic's SDK would wait for
 * days. After a rate limit of more than `maxSelfRetrySeconds`, the headers forbid a retry.
 */
export function toRetryHeaders(error: RouterError, status: number): Record<string, string> {
  if (!errorTable[error.code].clientMayRetry || error.hadEffects || outlastsRetries(error)) {
    // Clients do not retry after these errors. The delay has no upper limit, because only people read it.
    const seconds = Math.ceil(error.retryAfter ?? 0);
    return { 'x-should-retry': 'false', ...(seconds > 0 && { 'retry-after': String(seconds) }) };
  }
  const isBusy = status === 429 || status === 503 || status === 529;
  const seconds = error.retryAfter ?? (isBusy ? defaultRetryAfter : undefined);
  if (seconds === undefined) return { 'x-should-retry': 'true' };
  return { 'x-should-retry': 'true', 'retry-after': String(Math.min(30, Math.max(1, Math.ceil(seconds) || 1))) };
}

/** Whether an error is a rate limit that lasts longer than a client should wait. */
export function outlastsRetries({ code, retryAfter }: RouterError): boolean {
  return code === 'rate_limit_exceeded' && retryAfter !== undefined && retryAfter > maxSelfRetrySeconds;
}

export interface ErrorAnswer<Body> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}
