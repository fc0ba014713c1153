import { errorTable, type RouterError } from '#shared/core/errors.ts';

/** Seconds named when nobody knows better how long a full or missing worker takes to come back. */
const defaultRetryAfter = 2;

/**
 * The headers that tell clients whether and when to ask again; the SDKs of both formats obey them. `retry-after` is
 * whole seconds between 1 and 30: one of the SDKs ignores more than 60, the other would wait for days.
 */
export function retryHeaders(error: RouterError, status: number): Record<string, string> {
  if (!errorTable[error.code].clientMayRetry) {
    // No client waits for so long by itself, so it is for people and told as it is.
    const seconds = Math.ceil(error.retryAfter ?? 0);
    return { 'x-should-retry': 'false', ...(seconds > 0 && { 'retry-after': String(seconds) }) };
  }
  const busy = status === 429 || status === 503 || status === 529;
  const seconds = error.retryAfter ?? (busy ? defaultRetryAfter : undefined);
  if (seconds === undefined) return { 'x-should-retry': 'true' };
  return { 'x-should-retry': 'true', 'retry-after': String(Math.min(30, Math.max(1, Math.ceil(seconds) || 1))) };
}

/** A whole answer to a request that failed, in one format's shape. */
export interface ErrorAnswer<Body> {
  status: number;
  headers: Record<string, string>;
  body: Body;
}
