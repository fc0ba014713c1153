import { RouterError } from '#shared/core/errors.ts';

/** Thrown for an upstream's answer of another kind than requested. The message contains the path and the status, but no content. */
export class UpstreamAnswerError extends Error {
  override name = 'UpstreamAnswerError';
}

const unreachableCodes = new Set([
  'ECONNREFUSED',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether an error means that no connection was made, because no process listens at the address, or the host is unknown. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A host with several addresses causes one error for each address.
  if (error instanceof AggregateError && error.errors.some(isUnreachable)) return true;
  return 'code' in error && typeof error.code === 'string' && unreachableCodes.has(error.code);
}

/**
 * Converts the error of a failed request to the upstream. Returns the signal's reason after an abort, a RouterError for a timeout, a broken
 * connection or an unknown answer, and any other error unchanged.
 */
export function toJobError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof RouterError || !(error instanceof Error)) return error;
  // The upstream has not begun the job. So the job may wait for any worker, including this worker once its upstream is back.
  if (isUnreachable(error)) return new RouterError('worker_lost', 'The upstream cannot be reached.', { cause: error });
  if (error.name === 'TimeoutError') {
    return new RouterError('upstream_timeout', 'The upstream took too long.', { cause: error });
  }
  if (error instanceof UpstreamAnswerError) {
    return new RouterError('upstream_failed', 'The upstream gave an unknown answer.', { cause: error });
  }
  if ('code' in error && typeof error.code === 'string') {
    return new RouterError('upstream_failed', 'The connection to the upstream broke.', { cause: error });
  }
  return error;
}
