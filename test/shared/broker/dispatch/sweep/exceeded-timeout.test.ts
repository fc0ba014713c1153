import { describe, expect, it } from 'vitest';
import type { JobState } from '#shared/broker/dispatch/job-state.ts';
import { exceededTimeout, type TimedJob, type Timeouts } from '#shared/broker/dispatch/sweep/exceeded-timeout.ts';

const timeouts: Timeouts = {
  queueMs: 1_000,
  noWorkerMs: 500,
  firstTokenMs: 2_000,
  idleMs: 3_000,
  totalMs: 10_000,
  silenceMs: 1_500,
  brokerMs: 2_500,
};

/** Milliseconds of `performance.now()` at which the job began. */
const start = 50_000;

interface Case {
  state: JobState;
  /** The job's times, in milliseconds after its begin. Those that are not given are its begin. */
  times?: Partial<Record<'lastFrameAt' | 'lastDataAt' | 'waitingSince' | 'noWorkerSince', number>>;
  stream?: boolean;
  maxWaitMs?: number;
  now: number;
  disconnectedSince?: number;
}

function exceeded(
  { state, times = {}, stream = true, maxWaitMs, now, disconnectedSince }: Case,
  expectedWaitMs?: number,
) {
  const { lastFrameAt = 0, lastDataAt = 0, waitingSince = 0, noWorkerSince } = times;
  const job: TimedJob = {
    state,
    isOver: ['done', 'failed', 'cancelled'].includes(state),
    request: { stream, maxWaitMs },
    queuedAt: start,
    waitingSince: start + waitingSince,
    noWorkerSince: noWorkerSince === undefined ? undefined : start + noWorkerSince,
    attempt:
      state === 'queued'
        ? undefined
        : { claimedAt: start, lastFrameAt: start + lastFrameAt, lastDataAt: start + lastDataAt },
  };
  const since = disconnectedSince === undefined ? undefined : start + disconnectedSince;
  return exceededTimeout(job, timeouts, start + now, since, () => expectedWaitMs);
}

function verdict(given: Case): string | undefined {
  const error = exceeded(given);
  return error instanceof Error ? error.code : error;
}

const alive = { lastFrameAt: 1e6 };

describe('the timeout that a job has exceeded', () => {
  it.each<[string, string | undefined, Case]>([
    ['in the queue, before any timeout', undefined, { state: 'queued', now: 999 }],
    ['in the queue for too long', 'queue_timeout', { state: 'queued', now: 1_001 }],
    [
      'in the queue again, after a worker was lost',
      undefined,
      { state: 'queued', times: { waitingSince: 900 }, now: 1_800 },
    ],
    ['in the queue, before the time that its client allows', undefined, { state: 'queued', maxWaitMs: 300, now: 300 }],
    ['in the queue for longer than its client allows', 'overloaded', { state: 'queued', maxWaitMs: 300, now: 301 }],
    ['in the queue, its client more patient', 'queue_timeout', { state: 'queued', maxWaitMs: 2_000, now: 1_001 }],
    [
      'claimed, for longer than its client would have waited',
      undefined,
      { state: 'claimed', maxWaitMs: 300, now: 900 },
    ],
    [
      'in the queue without a worker',
      'no_worker_available',
      { state: 'queued', times: { noWorkerSince: 100 }, now: 601 },
    ],
    ['in the queue, a worker just lost', undefined, { state: 'queued', times: { noWorkerSince: 400 }, now: 800 }],
    [
      'in the queue, the broker away for too long',
      'broker_unavailable',
      { state: 'queued', times: { waitingSince: 300 }, disconnectedSince: 100, now: 2_801 },
    ],
    [
      'in the queue for long, the broker away for a moment',
      undefined,
      { state: 'queued', disconnectedSince: 900, now: 950 },
    ],
    [
      'in the queue without a worker, the broker away',
      undefined,
      { state: 'queued', times: { waitingSince: 500, noWorkerSince: 100 }, disconnectedSince: 50, now: 900 },
    ],
    [
      'streaming without a further token, the broker away',
      undefined,
      { state: 'streaming', disconnectedSince: 1_000, now: 3_400 },
    ],
    ['claimed, the worker silent', 'lost', { state: 'claimed', now: 1_501 }],
    ['claimed, alive but without a token', 'first_token_timeout', { state: 'claimed', times: alive, now: 2_001 }],
    ['claimed, alive, not streamed', undefined, { state: 'claimed', times: alive, stream: false, now: 9_000 }],
    [
      'claimed long ago, the broker away for a moment',
      undefined,
      { state: 'claimed', disconnectedSince: 100, now: 2_599 },
    ],
    [
      'claimed, the broker away for too long',
      'broker_unavailable',
      { state: 'claimed', disconnectedSince: 100, now: 2_601 },
    ],
    ['streaming, alive but without a further token', 'idle_timeout', { state: 'streaming', times: alive, now: 3_001 }],
    ['streaming, the worker silent', 'lost', { state: 'streaming', now: 1_501 }],
    [
      'streaming, the broker away for too long',
      'broker_unavailable',
      { state: 'streaming', disconnectedSince: 0, now: 2_501 },
    ],
    [
      'in all, whatever it is doing',
      'total_timeout',
      { state: 'streaming', times: { ...alive, lastDataAt: 9_999 }, now: 10_001 },
    ],
    ['done', undefined, { state: 'done', now: 5_000 }],
    ['done, its total passed at the same moment', undefined, { state: 'done', now: 10_001 }],
    ['failed, its total passed at the same moment', undefined, { state: 'failed', now: 10_001 }],
    ['cancelled, its total passed at the same moment', undefined, { state: 'cancelled', now: 10_001 }],
  ])('%s: %s', (_, expected, given) => {
    expect(verdict(given)).toBe(expected);
  });
});

it.each([
  [1, 0],
  [4, 3_001],
  [30, 400_000],
  [10, undefined],
])('a client whose request waited too long is to come again in %d s when the wait is %d ms', (retryAfter, waitMs) => {
  expect(exceeded({ state: 'queued', now: 1_001 }, waitMs)).toMatchObject({ code: 'queue_timeout', retryAfter });
});
