import { describe, expect, it } from 'vitest';
import { PreemptedError, LineSlots } from '#services/batch-runner/slots/line-slots.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

/** Opens a pool of one worker with this many slots, and the line slots on it. */
function open(slots: number, { most = 100, yieldMs = 1_000 } = {}) {
  const pool = livePool({ tier: 'gpu', pool: 'p', models: [{ id: 'm', capabilities: [] }] }, [{ id: 'w', slots }]);
  const [worker] = pool.workers;
  if (!worker) throw new Error('the pool has no worker');
  const stopped: Job[] = [];
  const over = new Map<Job, () => void>();
  let assignedAt = 0;
  const dispatcher = {
    dispatch: () => {
      const { promise: finished, resolve } = Promise.withResolvers<unknown>();
      worker.take('grant', 'm');
      assignedAt += 1;
      const job = { isOver: false, attempt: { placement: { pool }, assignedAt }, finished } as unknown as Job;
      over.set(job, () => {
        worker.release('grant', 'm');
        resolve(undefined);
      });
      return job;
    },
    cancel: () => undefined,
    fail: (job: Job, error: Error) => {
      expect(error).toBeInstanceOf(PreemptedError);
      stopped.push(job);
      over.get(job)?.();
    },
  };
  const lines = new LineSlots({ dispatcher, maxLines: most, yieldMs });
  const begin = (now?: number): Job | undefined => {
    const give = lines.reserve([{ pool, model: 'm' }], now);
    if (!give) return undefined;
    const job = lines.dispatcher.dispatch({} as JobRequest, Buffer.alloc(0), {} as never);
    give();
    return job;
  };
  return { pool, worker, lines, begin, stopped, end: (job: Job) => over.get(job)?.() };
}

describe('lines of batches', () => {
  it('take as many slots as are free, without those of other processes', () => {
    const { worker, begin } = open(4);
    worker.recordHeartbeat(worker.ownJobs + 1);
    expect([begin(), begin(), begin(), begin()].filter(Boolean)).toHaveLength(3);
  });

  it('count from the time they get a slot, before they are dispatched', () => {
    const { lines, pool } = open(1);
    const take = () => lines.reserve([{ pool, model: 'm' }]);
    const give = take();
    expect([give !== undefined, take()]).toEqual([true, undefined]);
    for (let time = 0; time < 2; time += 1) give?.();
    expect([take() !== undefined, take()]).toEqual([true, undefined]);
  });

  it("are limited by the runner's maximum", () => {
    const { begin } = open(10, { most: 2 });
    expect([begin(), begin(), begin()].filter(Boolean)).toHaveLength(2);
  });

  it('are preempted by a live request that finds no free slot, the youngest first', () => {
    const { lines, pool, begin, stopped } = open(3);
    const jobs = [begin(), begin(), begin()];
    expect(lines.makeRoom(pool)).toBe(true);
    expect(stopped).toEqual([jobs[2]]);
    expect(lines.preemptions).toBe(1);
  });

  it('are not preempted while a slot is free, until more requests wait than slots are free', () => {
    const { lines, pool, begin, stopped } = open(3);
    for (const now of [0, 0]) begin(now);
    expect(lines.makeRoom(pool, 0)).toBe(true);
    expect(stopped).toEqual([]);
    // The heartbeat does not show the first request yet.
    expect(lines.makeRoom(pool, 10)).toBe(true);
    expect(stopped).toHaveLength(1);
  });

  it('leave the slot in which they were preempted to live requests for a while', async () => {
    const { lines, pool, worker, begin } = open(2, { yieldMs: 2_000 });
    for (const now of [0, 0]) begin(now);
    lines.makeRoom(pool, 0);
    await Promise.resolve();
    // The live request came and went.
    worker.recordHeartbeat(worker.ownJobs);
    expect(begin(1_999)).toBeUndefined();
    expect(begin(2_001)).toBeDefined();
  });

  it('never take a slot at once while a live request waits for it, whatever the setting', async () => {
    const { lines, pool, begin } = open(1, { yieldMs: 0 });
    begin(0);
    lines.makeRoom(pool, 0);
    await Promise.resolve();
    expect(begin(1)).toBeUndefined();
    expect(begin(1_300)).toBeDefined();
  });

  it('are reported as absent from a pool, so that another runner is asked', () => {
    const { lines, pool, worker } = open(1);
    worker.recordHeartbeat(worker.ownJobs + 1);
    expect(lines.makeRoom(pool)).toBe(false);
  });
});
