import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { GaveWayError } from '../slots/line-slots.ts';

/** Seconds after which a line is tried again if its error does not say when. */
const retrySeconds = 2;

/** Seconds after which it is tried again at the earliest, whatever the error says. */
const minRetrySeconds = 1;

/** What becomes of a line whose request failed. */
export type Judgement =
  /** It is run again; `counts` says whether that uses up one of its attempts. */
  | { kind: 'again'; afterMs: number; counts: boolean }
  /** All lines of the batch wait: a limit is used up for long. */
  | { kind: 'pause'; ms: number }
  /** The error is its result. */
  | { kind: 'final' };

/** Errors that say nothing about the line: something that it needs was not there. They use up no attempt. */
const absences: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no_worker_available',
  'overloaded',
  'queue_timeout',
  'store_unavailable',
  'broker_unavailable',
  'shutting_down',
  'rate_limit_exceeded',
  'token_limit_exceeded',
]);

/** Milliseconds after which it is looked again whether a worker serves a model that is known to exist. */
const absentModelMs = 5_000;

/**
 * Decides what becomes of a line, by the code of its error.
 * @param isKnown whether the request's model is known to exist, though no worker has served it since this process began
 */
export function judgeError(error: RouterError, isKnown = false): Judgement {
  // What has had effects must not have them twice.
  if (error.hadEffects) return { kind: 'final' };
  if (error.code === 'model_not_found' && isKnown) return { kind: 'again', afterMs: absentModelMs, counts: false };
  if (error instanceof GaveWayError) return { kind: 'again', afterMs: 0, counts: false };
  const afterMs = Math.ceil(Math.max(minRetrySeconds, error.retryAfter ?? retrySeconds) * 1000);
  if (error.code === 'insufficient_quota') return { kind: 'pause', ms: afterMs };
  if (absences.has(error.code)) return { kind: 'again', afterMs, counts: false };
  const { movable, clientMayRetry } = errorTable[error.code];
  return movable || clientMayRetry ? { kind: 'again', afterMs, counts: true } : { kind: 'final' };
}
