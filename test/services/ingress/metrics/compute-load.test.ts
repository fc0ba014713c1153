import { describe, expect, it } from 'vitest';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { computeLoad } from '#services/ingress/metrics/compute-load.ts';

function worker(tier: string, slots: number, others: number, draining = false): LiveWorker {
  return { announcement: { tier, slots, draining }, ownJobs: 1, otherJobs: others } as unknown as LiveWorker;
}

describe("the cluster's load", () => {
  it('is the sum of the waiting requests of all ingress nodes and the running ones of all workers', () => {
    const stats = [{ waitingByTier: { gpu: 2, cloud: 1 } }, { waitingByTier: { gpu: 1 } }];
    const load = computeLoad(stats, [worker('gpu', 8, 3), worker('gpu', 4, 0), worker('tools', 16, 0)]);
    expect(load?.tiers).toEqual({
      gpu: { waiting: 3, busy: 5, slots: 12, workers: 2 },
      cli: { waiting: 0, busy: 0, slots: 0, workers: 0 },
      cloud: { waiting: 1, busy: 0, slots: 0, workers: 0 },
      tools: { waiting: 0, busy: 1, slots: 16, workers: 1 },
    });
  });

  it('counts the running requests of a draining worker, but not its slots', () => {
    const load = computeLoad([{ waitingByTier: {} }], [worker('gpu', 8, 3, true)]);
    expect(load?.tiers.gpu).toEqual({ waiting: 0, busy: 4, slots: 0, workers: 0 });
  });

  it('is undefined, not 0, before any ingress stats arrive', () => {
    expect(computeLoad([], [worker('gpu', 8, 3)])).toBeUndefined();
  });
});
