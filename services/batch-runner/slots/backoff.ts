export interface GrowingDelay {
  /** Milliseconds of the first and of the longest delay. */
  firstMs: number;
  longestMs: number;
}

/** Returns the delay for the given repetition, counted from 1: doubled each time. */
export function backoffMs({ firstMs, longestMs }: GrowingDelay, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** (Math.min(times, 30) - 1));
}

/** Varies a delay by up to a quarter in both directions, so that not all waiting processes continue at once. */
export function withJitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
