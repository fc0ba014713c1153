/** Upper bounds of the classes of times, in milliseconds: 12 for each factor of 10, up to about an hour. */
export const latencyBoundsMs: readonly number[] = Array.from({ length: 80 }, (_, step) => 10 ** (step / 12));

/** Returns the class of a time in milliseconds: the index of the first bound that it does not exceed, or the number of bounds. */
export function findLatencyClass(milliseconds: number): number {
  // The classes have 12 upper bounds per power of ten, so the logarithm gives the index.
  const index = Math.ceil(Math.log10(Math.max(1, milliseconds)) * 12 - 1e-9);
  return Math.min(index, latencyBoundsMs.length);
}

/** In milliseconds: half of the times are shorter than `p50`, and 95 of 100 shorter than `p95`. */
export interface Percentiles {
  p50: number;
  p95: number;
}

/** Computes the percentiles of times that were counted by class; undefined if there are none. */
export function computePercentiles(counts: readonly number[]): Percentiles | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return total === 0
    ? undefined
    : { p50: computeQuantile(counts, total * 0.5), p95: computeQuantile(counts, total * 0.95) };
}

/** Returns the value below which `rank` values lie, assuming an even spread within each class. */
function computeQuantile(counts: readonly number[], rank: number): number {
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (below + count >= rank && count > 0) {
      const lower = index === 0 ? 0 : (latencyBoundsMs[index - 1] ?? 0);
      const upper = latencyBoundsMs[index] ?? lower;
      return Math.round((lower + ((rank - below) / count) * (upper - lower)) * 10) / 10;
    }
    below += count;
  }
  return 0;
}
