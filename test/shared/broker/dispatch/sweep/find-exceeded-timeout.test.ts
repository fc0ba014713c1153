import { expect, it } from 'vitest';
import type { JobState } from '#shared/broker/dispatch/job-event.ts';
import {
  findExceededTimeout,
  type TimedJob,
  type Timeouts,
} from '#shared/broker/dispatch/sweep/find-exceeded-timeout.ts';

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

interface Case extends Partial<Record<'lastFrameAt' | 'lastDataAt' | 'waitingSince' | 'noWorkerSince', number>> {
  stream?: boolean;
  maxWaitMs?: number;
  /** When the broker was lost. */
  lostAt?: number;
}

/** @param given times are milliseconds after the begin of the job, like `now` */
function exceeded(state: JobState, now: number, given: Case = {}, expectedWaitMs?: number) {
  const { lastFrameAt = 0, lastDataAt = 0, waitingSince = 0, noWorkerSince, stream = true, maxWaitMs, lostAt } = given;
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
        : { assignedAt: start, lastFrameAt: start + lastFrameAt, lastDataAt: start + lastDataAt },
  };
  const since = lostAt === undefined ? undefined : start + lostAt;
  return findExceededTimeout(job, timeouts, start + now, since, () => expectedWaitMs);
}

const alive = { lastFrameAt: 1e6 };

it.each<[string, string | undefined, JobState, number, Case]>([
  ['in the queue, before any timeout', undefined, 'queued', 999, {}],
  ['in the queue for too long', 'queue_timeout', 'queued', 1_001, {}],
  ['in the queue again, after a worker was lost', undefined, 'queued', 1_800, { waitingSince: 900 }],
  ['in the queue, before the time that its client allows', undefined, 'queued', 300, { maxWaitMs: 300 }],
  ['in the queue for longer than its client allows', 'overloaded', 'queued', 301, { maxWaitMs: 300 }],
  ['in the queue, its client more patient', 'queue_timeout', 'queued', 1_001, { maxWaitMs: 2_000 }],
  ['claimed, for longer than its client would have waited', undefined, 'claimed', 900, { maxWaitMs: 300 }],
  ['in the queue without a worker', 'no_worker_available', 'queued', 601, { noWorkerSince: 100 }],
  ['in the queue, a worker just lost', undefined, 'queued', 800, { noWorkerSince: 400 }],
  ['queued, the broker away for long', 'broker_unavailable', 'queued', 2_801, { waitingSince: 300, lostAt: 100 }],
  ['in the queue for long, the broker away for a moment', undefined, 'queued', 950, { lostAt: 900 }],
  [
    'without a worker, the broker away',
    undefined,
    'queued',
    900,
    { waitingSince: 500, noWorkerSince: 100, lostAt: 50 },
  ],
  ['streaming without a further token, the broker away', undefined, 'streaming', 3_400, { lostAt: 1_000 }],
  ['claimed, the worker silent', 'lost', 'claimed', 1_501, {}],
  ['claimed, alive but without a token', 'first_token_timeout', 'claimed', 2_001, alive],
  ['claimed, alive, not streamed', undefined, 'claimed', 9_000, { ...alive, stream: false }],
  ['claimed long ago, the broker away for a moment', undefined, 'claimed', 2_599, { lostAt: 100 }],
  ['claimed, the broker away for too long', 'broker_unavailable', 'claimed', 2_601, { lostAt: 100 }],
  ['streaming, alive but without a further token', 'idle_timeout', 'streaming', 3_001, alive],
  ['streaming, the worker silent', 'lost', 'streaming', 1_501, {}],
  ['streaming, the broker away for too long', 'broker_unavailable', 'streaming', 2_501, { lostAt: 0 }],
  ['in all, whatever it does', 'total_timeout', 'streaming', 10_001, { ...alive, lastDataAt: 9_999 }],
  ['done', undefined, 'done', 5_000, {}],
  ['done, its total passed at the same moment', undefined, 'done', 10_001, {}],
  ['failed, its total passed at the same moment', undefined, 'failed', 10_001, {}],
  ['cancelled, its total passed at the same moment', undefined, 'cancelled', 10_001, {}],
])('the timeout that a job has exceeded %s: %s', (_, expected, state, now, given) => {
  const error = exceeded(state, now, given);
  expect(error instanceof Error ? error.code : error).toBe(expected);
});

it.each([
  [1, 0],
  [4, 3_001],
  [30, 400_000],
  [10, undefined],
])('a client whose request waited too long gets Retry-After: %d if the wait is %d ms', (retryAfter, waitMs) => {
  expect(exceeded('queued', 1_001, {}, waitMs)).toMatchObject({ code: 'queue_timeout', retryAfter });
});
