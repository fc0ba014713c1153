import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { ingressStatsSchema, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { addUpOverview, addUpQueue, addUpRefusals } from '#services/console/live/add-up-stats.ts';
import { StatsMeter } from '#services/console/live/stats-meter.ts';

const worker = { id: 'w1', announcement: { worker: 'w1', tier: 'gpu' } } as unknown as LiveWorker;
const attempt = { worker, placement: { pool: worker.pool, model: 'demo' } };

function report(change: Partial<JobReport>): JobReport {
  const now = performance.now();
  const times = { queuedAt: now, claimedAt: now, firstByteAt: now, endedAt: now };
  const course = { attempts: 1, moves: [], continuations: [], timeline: [], answerBytes: 0, attempt, ...times };
  const end = { usage: noUsage, finishReason: 'stop' };
  return { state: 'done', ...course, end, error: undefined, ...change };
}

const failed = (error: RouterError, change: Partial<JobReport> = {}): JobReport =>
  report({ state: 'failed', end: undefined, error, ...change });

const personal = { kind: 'user', ownerId: 'ada' } as const;

/** An upstream's refusal that quotes the prompt. */
const quoting = new RouterError('upstream_failed', 'Cannot parse: my secret diary');

/** Returns the stats as an ingress publishes them. */
function published(stats: IngressStats): string {
  const sent: string[] = [];
  const publish = (_: string, payload: string) => void sent.push(payload);
  publishIngressStats({ subjects: createSubjects('test'), publish } as unknown as Broker, 'one', stats);
  return sent.join('');
}

/** A meter, and a clock that only the test moves. */
function meterWithClock(jobs: Job[] = []) {
  vi.useFakeTimers({ toFake: ['performance', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  return new StatsMeter(() => jobs);
}

describe("an ingress's stats", () => {
  it('count the last minute second by second', () => {
    const meter = meterWithClock();
    for (let count = 0; count < 3; count += 1) meter.countJob('r', personal, report({}));
    vi.advanceTimersByTime(1_000);
    expect(addUpOverview([meter.read()]).requestsPerSecond.at(-1)).toBe(3);
    vi.advanceTimersByTime(59_000);
    expect(addUpOverview([meter.read()]).requestsPerSecond[0]).toBe(3);
    vi.advanceTimersByTime(1_000);
    expect(addUpOverview([meter.read()]).requestsPerSecond.every((value) => value === 0)).toBe(true);
  });

  it('spread the tokens of an answer over the time in which they came', () => {
    const meter = meterWithClock();
    const firstByteAt = performance.now();
    vi.advanceTimersByTime(9_000);
    const end = { usage: { ...noUsage, completionTokens: 100 }, finishReason: 'stop' };
    meter.countJob('r', personal, report({ firstByteAt, endedAt: performance.now(), end }));
    vi.advanceTimersByTime(1_000);
    const { tokensPerSecond } = addUpOverview([meter.read()]);
    expect(tokensPerSecond.slice(-10)).toEqual(Array.from({ length: 10 }, () => 10));
  });

  it('count the serving tiers of an hour, and list failures with code and place', () => {
    const meter = meterWithClock();
    meter.countJob('r1', personal, report({}));
    const endedAt = performance.now();
    meter.countJob('r2', personal, failed(quoting, { endedAt }));
    vi.advanceTimersByTime(50 * 60_000);
    const stats = meter.read();
    expect(addUpOverview([stats]).servedByTier).toEqual({ gpu: 1 });
    const at = Math.round(performance.timeOrigin + endedAt);
    const place = { model: 'demo', tier: 'gpu', worker: 'w1' };
    expect(stats.failures).toEqual([{ at, requestId: 'r2', code: 'upstream_failed', userId: 'ada', ...place }]);
    vi.advanceTimersByTime(12 * 60_000);
    expect(addUpOverview([meter.read()]).servedByTier).toEqual({ gpu: 0 });
  });

  it('distinguish failures of the router and of upstreams from those of clients', () => {
    const meter = meterWithClock();
    const faults = ['upstream_failed', 'no_worker_available', 'first_token_timeout', 'internal'] as const;
    const others = ['context_length_exceeded', 'model_not_found', 'rate_limit_exceeded', 'workers_died'] as const;
    for (const code of [...faults, ...others]) meter.countJob('r', personal, failed(new RouterError(code, 'no')));
    meter.countJob('r', personal, report({ state: 'cancelled', end: undefined }));
    vi.advanceTimersByTime(1_000);
    const stats = meter.read();
    expect([stats.requests.at(-1), stats.errors.at(-1), stats.faults.at(-1)]).toEqual([9, 8, 4]);
  });

  it('stay small and readable, however much happens', () => {
    const meter = meterWithClock();
    const error = new RouterError('upstream_failed', 'é'.repeat(1_000));
    for (let count = 0; count < 10_000; count += 1) {
      meter.countJob(`r${count}`, personal, report({ firstByteAt: performance.now() + count, error }));
      if (count % 100 === 0) vi.advanceTimersByTime(500);
    }
    const stats = meter.read();
    expect(ingressStatsSchema.safeParse(stats).error).toBeUndefined();
    expect(JSON.stringify(stats).length).toBeLessThan(32_000);
  });

  it('count the waiting requests of each lane, and the streaming answers', () => {
    const pool = { tier: 'gpu', pool: 'p' };
    const waiting = { state: 'queued', tickets: { placed: new Map([[pool, {}]]) }, request: { class: 'low' } };
    const meter = meterWithClock([waiting, waiting, { ...waiting, state: 'streaming' }] as unknown as Job[]);
    const stats = meter.read();
    expect(addUpQueue([stats, stats])).toEqual([{ tier: 'gpu', pool: 'p', class: 'low', waiting: 4 }]);
    expect(addUpOverview([stats])).toMatchObject({ activeStreams: 1, waiting: 2, queuedByTier: { gpu: 2 } });
  });

  it('count the waiting requests in no lane, which no worker can serve', () => {
    const nowhere = { tickets: { placed: new Map() }, tiers: ['gpu', 'cloud'] };
    const waiting = { state: 'queued', request: { class: 'high' }, ...nowhere };
    const meter = meterWithClock([waiting, waiting, { ...waiting, state: 'streaming' }] as unknown as Job[]);
    const stats = ingressStatsSchema.parse(meter.read());
    expect(addUpQueue([stats, stats])).toEqual([
      { tier: 'gpu', class: 'high', waiting: 4 },
      { tier: 'cloud', class: 'high', waiting: 4 },
    ]);
    expect(addUpOverview([stats])).toMatchObject({ waiting: 2, queuedByTier: { gpu: 2, cloud: 2 } });
    expect(stats).toMatchObject({ unplaced: { length: 2 }, waiting: 2, waitingByTier: { gpu: 2, cloud: 2 } });
  });
});

describe('refused requests in the stats', () => {
  it('are counted by reason for a minute and an hour, over all ingress nodes', () => {
    const [meter, other] = [meterWithClock(), new StatsMeter(() => [])];
    for (let count = 0; count < 3; count += 1) meter.countRefusal('rate_limit_exceeded');
    other.countRefusal('invalid_api_key');
    vi.advanceTimersByTime(5 * 60_000);
    other.countRefusal('rate_limit_exceeded');
    const stats = [meter, other].map((each) => ingressStatsSchema.parse(each.read()));
    expect(addUpRefusals(stats)).toEqual([
      { code: 'rate_limit_exceeded', minute: 1, hour: 4 },
      { code: 'invalid_api_key', minute: 0, hour: 1 },
    ]);
    expect(addUpOverview(stats).requestsPerSecond.every((value) => value === 0)).toBe(true);
    vi.advanceTimersByTime(62 * 60_000);
    expect(addUpRefusals([meter.read(), other.read()])).toEqual([]);
  });
});

describe('a failure in the stats', () => {
  it('contains no text of the error, whoever sent the request', () => {
    const meter = meterWithClock();
    meter.countJob('r1', personal, failed(quoting));
    meter.countJob('r2', { kind: 'team', ownerId: 'crew' }, failed(quoting));
    meter.countJob('r3', { kind: 'router', ownerId: undefined }, failed(quoting));
    const stats = meter.read();
    expect(stats.failures.map(({ requestId }) => requestId)).toEqual(['r3', 'r2', 'r1']);
    expect(stats.failures.map(({ userId }) => userId)).toEqual([undefined, undefined, 'ada']);
    expect(JSON.stringify(stats)).not.toContain('diary');
  });

  it('drops the text that another release sends', () => {
    const sent = { at: 1, requestId: 'r1', code: 'upstream_failed', message: 'my secret diary' };
    const stats = ingressStatsSchema.parse({ ...meterWithClock().read(), failures: [sent] });
    expect(stats.failures).toEqual([{ at: 1, requestId: 'r1', code: 'upstream_failed' }]);
  });
});

describe('the overview', () => {
  it('contains the percentiles of the times to the first byte over all ingress nodes, exact to a fifth', () => {
    const [meter, other] = [meterWithClock(), new StatsMeter(() => [])];
    for (let ms = 1; ms <= 1_000; ms += 1) {
      const now = performance.now();
      const served = report({ queuedAt: now - ms, firstByteAt: now, endedAt: now });
      (ms % 2 === 0 ? meter : other).countJob('r', personal, served);
    }
    vi.advanceTimersByTime(1_000);
    const { firstTokenMs } = addUpOverview([meter.read(), other.read()]);
    expect(Math.abs((firstTokenMs?.p50 ?? 0) - 500)).toBeLessThan(20);
    expect(Math.abs((firstTokenMs?.p95 ?? 0) - 950)).toBeLessThan(50);
  });

  it('has no times when there were no requests', () => {
    const none = Array<number>(60).fill(0);
    const seconds = { requestsPerSecond: none, tokensPerSecond: none, errorsPerSecond: none };
    const now = { activeStreams: 0, servedByTier: {}, waiting: 0, queuedByTier: {} };
    expect(addUpOverview([])).toEqual({ ...seconds, ...now });
  });

  it('includes an ingress that has just started', () => {
    const begun = { ...meterWithClock().read(), requests: [2, 1] } satisfies IngressStats;
    expect(addUpOverview([begun]).requestsPerSecond.slice(-3)).toEqual([0, 2, 1]);
  });

  it('is the same for every receiver, and a node without requests sends few bytes', () => {
    const meter = meterWithClock();
    expect(published(meter.read()).length).toBeLessThan(400);
    meter.countJob('r', personal, report({ error: new RouterError('upstream_failed', 'x'), state: 'failed' }));
    vi.advanceTimersByTime(3_000);
    const now = performance.now();
    const end = { usage: { ...noUsage, completionTokens: 7 }, finishReason: 'stop' };
    meter.countJob('r', personal, report({ queuedAt: now - 700, end }));
    vi.advanceTimersByTime(2_000);
    const received = ingressStatsSchema.parse(JSON.parse(published(meter.read())));
    expect(received.requests).toHaveLength(5);
    expect(addUpOverview([received])).toEqual(addUpOverview([meter.read()]));
    expect(addUpOverview([received]).firstTokenMs?.p95).toBeGreaterThan(600);
  });
});
