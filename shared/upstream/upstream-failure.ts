import { RouterError } from '#shared/core/errors.ts';
import { isUnreachable } from './is-unreachable.ts';
import { UpstreamAnswerError } from './upstream-http.ts';

/**
 * What a job is told of an error that came while the upstream was asked: an ended wait and a broken connection are
 * failures of the upstream, an abort is the signal's own reason, and any other error stays what it is.
 */
export function upstreamFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof RouterError || !(error instanceof Error)) return error;
  // Nothing was begun: the job waits for whoever can serve it, this worker too when its upstream is back.
  if (isUnreachable(error)) return new RouterError('worker_lost', 'The upstream cannot be reached.', { cause: error });
  if (error.name === 'TimeoutError') {
    return new RouterError('upstream_timeout', 'The upstream took too long.', { cause: error });
  }
  if (error instanceof UpstreamAnswerError) {
    return new RouterError('upstream_failed', 'The upstream gave an answer that is not known.', { cause: error });
  }
  if ('code' in error && typeof error.code === 'string') {
    return new RouterError('upstream_failed', 'The connection to the upstream broke.', { cause: error });
  }
  return error;
}
