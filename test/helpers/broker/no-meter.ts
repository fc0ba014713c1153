import type { WorkerMeter } from '#shared/broker/worker/worker-meter.ts';

/** For workers in tests that look at no metrics. */
export const noMeter: WorkerMeter = {
  claimed: () => undefined,
  offered: () => undefined,
  finished: () => undefined,
  paused: () => undefined,
};
