import type { WorkerOptions } from '#shared/broker/worker/worker-options.ts';

/** Common settings of the tests' workers: a model `demo` on the GPU tier, in both formats, each piece sent at once, no metrics. */
export const testWorker = {
  tier: 'gpu',
  kind: 'test',
  formats: ['chat', 'messages'],
  version: '0',
  models: [{ id: 'demo', capabilities: ['stream'] }],
  slots: 8,
  accepting: true,
  coalesceMs: 0,
  meter: {
    countClaim: () => undefined,
    countOffer: () => undefined,
    countJob: () => undefined,
    countStop: () => undefined,
  },
} satisfies Partial<WorkerOptions>;
