import { describe, expect, it, vi, onTestFinished } from 'vitest';
import type { Job, JobReport } from '#shared/broker/dispatch/job.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-pool.ts';
import { ingressStatsSchema, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { overviewOf, queueOf } from '#services/console/live/overview-of.ts';
import { StatsMeter } from '#services/console/live/stats-meter.ts';

const worker = { id: 'w1', announcement: { worker: 'w1', tier: 'gpu' } } as unknown as LiveWorker;
const served = { worker, placement: { pool: worker.pool, model: 'demo' }, offered: false, grant: 'g' };

function report(change: Partial<JobReport>): JobReport {
  const now = performance.now();
  return {
    state: 'done',
    attempts: 1,
    moves: [],
    queuedAt: now,
    claimedAt: now,
    firstByteAt: now,
    endedAt: now,
    served,
    end: { usage: noUsage, finishReason: 'stop' },
    error: undefined,
    ...change,
  };
}

/** A meter, and a clock that only tests move. */
function meterWithClock(jobs: Job[] = []) {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return new StatsMeter(() => jobs);
}

describe("an ingress's stats", () => {
  it('tells the last minute second by second, and forgets it', () => {
    const meter = meterWithClock();
    for (let count = 0; count < 3; count += 1) meter.countJob('r', report({}));
    vi.advanceTimersByTime(1_000);
    expect(overviewOf([meter.read()]).requestsPerSecond.at(-1)).toBe(3);
    vi.advanceTimersByTime(59_000);
    expect(overviewOf([meter.read()]).requestsPerSecond[0]).toBe(3);
    vi.advanceTimersByTime(1_000);
    expect(overviewOf([meter.read()]).requestsPerSecond.every((value) => value === 0)).toBe(true);
  });

  it('spreads the tokens of an answer over the time in which they came', () => {
    const meter = meterWithClock();
    const firstByteAt = performance.now();
    vi.advanceTimersByTime(9_000);
    const end = { usage: { ...noUsage, completionTokens: 100 }, finishReason: 'stop' };
    meter.countJob('r', report({ firstByteAt, endedAt: performance.now(), end }));
    vi.advanceTimersByTime(1_000);
    const { tokensPerSecond } = overviewOf([meter.read()]);
    expect(tokensPerSecond.slice(-10)).toEqual(Array.from({ length: 10 }, () => 10));
  });

  it('counts who served for an hour, and what failed with its reason', () => {
    const meter = meterWithClock();
    meter.countJob('r1', report({}));
    const error = new RouterError('upstream_failed', 'x'.repeat(5_000));
    meter.countJob('r2', report({ state: 'failed', end: undefined, error }));
    vi.advanceTimersByTime(50 * 60_000);
    const { servedByTier, errors } = overviewOf([meter.read()]);
    expect(servedByTier).toEqual({ gpu: 1 });
    expect(errors).toMatchObject([
      { requestId: 'r2', code: 'upstream_failed', model: 'demo', tier: 'gpu', worker: 'w1' },
    ]);
    expect(errors[0]?.message).toHaveLength(300);
    vi.advanceTimersByTime(12 * 60_000);
    expect(overviewOf([meter.read()]).servedByTier).toEqual({ gpu: 0 });
  });

  it('stays small and readable, however much happens', () => {
    const meter = meterWithClock();
    const error = new RouterError('upstream_failed', 'é'.repeat(1_000));
    for (let count = 0; count < 10_000; count += 1) {
      meter.countJob(`r${count}`, report({ firstByteAt: performance.now() + count, error }));
      if (count % 100 === 0) vi.advanceTimersByTime(500);
    }
    const stats = meter.read();
    expect(ingressStatsSchema.safeParse(stats).error).toBeUndefined();
    expect(JSON.stringify(stats).length).toBeLessThan(32_000);
  });

  it('tells what waits in each lane, and how many answers stream', () => {
    const pool = { tier: 'gpu', pool: 'p' };
    const waiting = { state: 'queued', placed: new Map([[pool, {}]]), request: { class: 'low' } };
    const meter = meterWithClock([waiting, waiting, { ...waiting, state: 'streaming' }] as unknown as Job[]);
    const stats = meter.read();
    expect(queueOf([stats, stats])).toEqual([{ tier: 'gpu', pool: 'p', class: 'low', waiting: 4 }]);
    expect(overviewOf([stats])).toMatchObject({ activeStreams: 1, queuedByTier: { gpu: 2 } });
  });
});

describe('the overview', () => {
  it('finds the percentiles of times to the first byte, all ingress nodes together, to a fifth', () => {
    const meter = meterWithClock();
    const other = new StatsMeter(() => []);
    for (let ms = 1; ms <= 1_000; ms += 1) {
      const now = performance.now();
      (ms % 2 === 0 ? meter : other).countJob('r', report({ queuedAt: now - ms, firstByteAt: now, endedAt: now }));
    }
    vi.advanceTimersByTime(1_000);
    const { firstTokenMs } = overviewOf([meter.read(), other.read()]);
    expect(firstTokenMs?.p50).toBeGreaterThan(480);
    expect(firstTokenMs?.p50).toBeLessThan(520);
    expect(firstTokenMs?.p95).toBeGreaterThan(900);
    expect(firstTokenMs?.p95).toBeLessThan(1_000);
  });

  it('says nothing of times when there were no requests', () => {
    expect(overviewOf([])).toEqual({
      requestsPerSecond: Array.from({ length: 60 }, () => 0),
      tokensPerSecond: Array.from({ length: 60 }, () => 0),
      errorsPerSecond: Array.from({ length: 60 }, () => 0),
      activeStreams: 0,
      servedByTier: {},
      queuedByTier: {},
      errors: [],
    });
  });

  it('takes stats of an ingress that has just begun', () => {
    const begun = { ...meterWithClock().read(), requests: [2, 1] } satisfies IngressStats;
    expect(overviewOf([begun]).requestsPerSecond.slice(-3)).toEqual([0, 2, 1]);
  });
});
