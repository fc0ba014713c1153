import type { RouterError } from '#shared/core/errors.ts';
import { GaveWayError } from './line-slots.ts';
import { growingMs, varied } from './growing-delay.ts';

/** An upstream refuses requests for now: it limits their rate, or is overloaded. */
export interface UpstreamLimit {
  /** When it is tried again, in ms since 1970. */
  until: number;
  /** As its users read it. */
  reason: string;
}

/** Milliseconds until it is tried again. Each try may cost live requests a pause of the worker, so they become rare;
 * the first waits are short, because all batches of the model wait, and one refusal says little. */
const waits = { firstMs: 2_000, longestMs: 600_000 };

/** Milliseconds that an upstream may name at most. */
const mostToldMs = 3_600_000;

/** Whether an error that a worker reported says that its upstream refuses requests for now. */
export function isUpstreamLimit(error: RouterError): boolean {
  return (error.code === 'rate_limit_exceeded' || error.code === 'overloaded') && !(error instanceof GaveWayError);
}

/**
 * The limit that an error shows.
 * @param times how often it was met in a row, from 1: longer each time, up to ten minutes. As long as the upstream says at least, but not
 * longer than an hour
 */
export function upstreamLimitOf(model: string, error: RouterError, times: number, now: number): UpstreamLimit {
  const toldMs = Math.min(mostToldMs, (error.retryAfter ?? 0) * 1_000);
  const ms = Math.max(toldMs * (1 + Math.random() / 4), varied(growingMs(waits, times)));
  return { until: now + Math.ceil(ms), reason: `${model} takes no requests for now. ${error.message}` };
}
