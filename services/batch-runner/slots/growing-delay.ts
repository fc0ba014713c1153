export interface GrowingDelay {
  /** Milliseconds, the first time and at most. */
  firstMs: number;
  longestMs: number;
}

/** Milliseconds for the so-manieth time in a row, from 1: doubled each time. */
export function growingMs({ firstMs, longestMs }: GrowingDelay, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** (Math.min(times, 30) - 1));
}

/** Milliseconds varied by a quarter, so that those who wait for the same do not all come at once. */
export function varied(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
