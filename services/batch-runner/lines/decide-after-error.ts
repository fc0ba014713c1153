import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { PreemptedError } from '../slots/line-slots.ts';

/** Seconds until the next try of a line if the error has no `retryAfter`. */
const retrySeconds = 2;

/** Least number of seconds until the next try, whatever the error says. */
const minRetrySeconds = 1;

export type ErrorDecision =
  /** The line is tried again; `counts` tells whether the failed try counts towards the maximum number of tries. */
  | { kind: 'again'; afterMs: number; counts: boolean }
  /** All lines of the batch wait, because a limit is exhausted for long. */
  | { kind: 'pause'; ms: number }
  | { kind: 'final' };

/**
 * Errors that do not concern the line, because a dependency was missing. Tries that end with them do not count towards the maximum number
 * of tries.
 */
const missingDependencyCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no_worker_available',
  'overloaded',
  'queue_timeout',
  'store_unavailable',
  'broker_unavailable',
  'shutting_down',
  'rate_limit_exceeded',
  'token_limit_exceeded',
]);

/** Milliseconds until the next check for a worker that serves a model known to exist. */
const absentModelMs = 5_000;

/**
 * Decides by the code of an error what happens to its line.
 * @param isKnown whether the model is known to exist although no worker has served it since this process began
 */
export function decideAfterError(error: RouterError, isKnown = false): ErrorDecision {
  // Another try would repeat the effects of this one.
  if (error.hadEffects) return { kind: 'final' };
  if (error.code === 'model_not_found' && isKnown) return { kind: 'again', afterMs: absentModelMs, counts: false };
  if (error instanceof PreemptedError) return { kind: 'again', afterMs: 0, counts: false };
  const afterMs = Math.ceil(Math.max(minRetrySeconds, error.retryAfter ?? retrySeconds) * 1000);
  if (error.code === 'insufficient_quota') return { kind: 'pause', ms: afterMs };
  if (missingDependencyCodes.has(error.code)) return { kind: 'again', afterMs, counts: false };
  const { movable, clientMayRetry } = errorTable[error.code];
  return movable || clientMayRetry ? { kind: 'again', afterMs, counts: true } : { kind: 'final' };
}
