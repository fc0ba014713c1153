import { ShortOfMemoryError, type RouterError } from '#shared/core/errors.ts';
import { PreemptedError } from './line-slots.ts';

/** A limit of an upstream. The upstream is expected to refuse requests for a while, because of a rate limit or overload. */
export interface UpstreamLimit {
  /** Time of the next try, in ms since 1970. */
  until: number;
  /** Text for the owner of the batch. */
  reason: string;
}

/**
 * Milliseconds until the next try. Each try may make the worker pause for live requests as well, so tries become rare. The first waits are
 * short, because all batches of the model wait, and a single refusal is weak evidence.
 */
const retryDelay = { firstMs: 2_000, longestMs: 600_000 };

/** Longest wait in milliseconds that an upstream may request. */
const maxRequestedMs = 3_600_000;

/** Returns whether the error of a job means that its upstream limits the rate of requests or is overloaded. */
export function isUpstreamLimit(error: RouterError): boolean {
  if (error instanceof PreemptedError || error instanceof ShortOfMemoryError) return false;
  return error.code === 'rate_limit_exceeded' || error.code === 'overloaded';
}

/**
 * Returns the limit that follows from an error.
 * @param times number of refusals in a row, from 1. The wait grows with this number up to ten minutes. The wait is at least as long as the
 * upstream requests, up to an hour
 */
export function computeUpstreamLimit(model: string, error: RouterError, times: number, now: number): UpstreamLimit {
  const requestedMs = Math.min(maxRequestedMs, (error.retryAfter ?? 0) * 1_000);
  const ms = Math.max(requestedMs * (1 + Math.random() / 4), addJitter(computeBackoffMs(retryDelay, times)));
  return { until: now + Math.ceil(ms), reason: `${model} takes no requests for now. ${error.message}` };
}

export interface GrowingDelay {
  /** Milliseconds of the first delay. */
  firstMs: number;
  /** Milliseconds of the longest delay. */
  longestMs: number;
}

/** Returns the delay before retry number `times`, counted from 1. The delay doubles each time up to `longestMs`. */
export function computeBackoffMs({ firstMs, longestMs }: GrowingDelay, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** (Math.min(times, 30) - 1));
}

/** Varies a delay by up to a quarter in both directions, so that waiting processes do not all continue at the same time. */
export function addJitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
