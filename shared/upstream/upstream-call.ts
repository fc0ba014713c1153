import { RouterError } from '#shared/core/errors.ts';
import { isUnreachable } from './is-unreachable.ts';

/** One request to an upstream that is over. Times are milliseconds since it was sent. */
export interface UpstreamCall {
  outcome: '2xx' | '3xx' | '429' | '4xx' | '5xx' | 'unreachable' | 'timeout' | 'broken' | 'aborted';
  /** Until the first piece of a streamed answer was heard. */
  firstMs: number | undefined;
  ms: number;
}

/** How an answer that came to its end counts. */
export function outcomeOfStatus(status: number): UpstreamCall['outcome'] {
  if (status === 429) return '429';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}

/** How a request that was never answered to the end counts. `aborted`: nobody waited for it any more. */
export function outcomeOfFailure(error: unknown, signal: AbortSignal): UpstreamCall['outcome'] {
  if (signal.aborted) return 'aborted';
  if (isUnreachable(error)) return 'unreachable';
  return error instanceof RouterError && error.code === 'upstream_timeout' ? 'timeout' : 'broken';
}
