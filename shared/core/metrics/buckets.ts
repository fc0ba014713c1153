/** Bounds of histograms of waits and answers, in seconds. */
export const secondsBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];

/** Bounds of histograms of an answer's speed, in tokens a second. */
export const speedBuckets: readonly number[] = [1, 2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2500];
