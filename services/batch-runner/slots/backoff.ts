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
