import { quantile } from '../../report/quantile.ts';
import type { Metric, PeerResults, SideResult } from './peer-results.ts';

export interface Summary {
  median: number;
  /** Lowest and highest value, as shares of the median. */
  spread: number;
}

export function summarize(values: readonly number[]): Summary | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (quantile(sorted.slice(Math.ceil(middle - 1)), 0) + quantile(sorted.slice(Math.floor(middle)), 0)) / 2;
  const spread = median === 0 ? 0 : ((sorted.at(-1) ?? 0) - (sorted[0] ?? 0)) / Math.abs(median);
  return { median, spread };
}

/** Returns one side of one cell; undefined when it was not measured. */
export function sideOf(results: PeerResults, cell: string, side: string): SideResult | undefined {
  return results.cells.find(({ name }) => name === cell)?.sides[side];
}

/** Returns the median of a metric; undefined when it was not measured. */
export function medianOf(results: PeerResults, cell: string, side: string, metric: Metric): number | undefined {
  return summarize(sideOf(results, cell, side)?.values[metric] ?? [])?.median;
}

/** Returns a number with three significant digits. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3);
}
