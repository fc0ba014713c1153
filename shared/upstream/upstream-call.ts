import { RouterError } from '#shared/core/errors.ts';
import { isUnreachable } from './upstream-failure.ts';

/**
 * The outcome of a request to an upstream: the class of the status, or the reason why the request broke off. `aborted`: the job was
 * cancelled.
 */
export const upstreamOutcomes = [
  '2xx',
  '3xx',
  '429',
  '4xx',
  '5xx',
  'unreachable',
  'timeout',
  'broken',
  'aborted',
] as const;
export type UpstreamOutcome = (typeof upstreamOutcomes)[number];

/** A finished request to an upstream. Times are in milliseconds since the request was sent. */
export interface UpstreamCall {
  outcome: UpstreamOutcome;
  /** The time until the first piece of a streamed answer; undefined if no piece arrived. */
  firstMs: number | undefined;
  ms: number;
}

export function classifyStatus(status: number): UpstreamOutcome {
  if (status === 429) return '429';
  if (status >= 500) return '5xx';
  if (status >= 400) return '4xx';
  return status >= 300 ? '3xx' : '2xx';
}

export function classifyFailure(error: unknown, signal: AbortSignal): UpstreamOutcome {
  if (signal.aborted) return 'aborted';
  if (isUnreachable(error)) return 'unreachable';
  return error instanceof RouterError && error.code === 'upstream_timeout' ? 'timeout' : 'broken';
}
