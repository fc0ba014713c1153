import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GrantedJob, JobEnd } from '#shared/broker/contract/job-contract.ts';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { CircuitBreaker } from '#shared/worker/circuit-breaker.ts';
import { jobDone } from '../../helpers/broker/job-done.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const full: WorkerFacts = { models: [], slots: 10, accepting: true };

const jobWith = (fields: Partial<GrantedJob>) => ({ operation: 'generate', stream: true, ...fields }) as GrantedJob;
const unread = { addHeaders: () => undefined, write: () => undefined };

let breaker: CircuitBreaker;
let changes: number;

beforeEach(() => {
  vi.useFakeTimers();
  changes = 0;
  breaker = new CircuitBreaker(silentLog, () => (changes += 1));
});
afterEach(() => {
  breaker.close();
  vi.useRealTimers();
});

/** Begins a job of the worker. `outcome` is how it ends. */
function begin(fields: Partial<GrantedJob> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<JobEnd>();
  const client = new AbortController();
  let write: (text: string) => void = () => undefined;
  const handler = breaker.wrapHandler((_, reply, signal) => {
    write = (text) => reply.write(text);
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  });
  const outcome = handler(jobWith(fields), unread, client.signal).catch((error: unknown) => error);
  const over = async (settle: () => void): Promise<void> => {
    settle();
    await outcome;
  };
  return {
    write: (text: string) => write(text),
    succeed: () => over(() => resolve(jobDone)),
    fail: (code: ErrorCode, retryAfter?: number) => over(() => reject(new RouterError(code, 'failed', { retryAfter }))),
    cancel: () => over(() => client.abort(new Error('cancelled'))),
    outcome,
  };
}

async function fail(times: number, code: ErrorCode = 'upstream_failed'): Promise<void> {
  for (let time = 0; time < times; time += 1) await begin().fail(code);
}

const now = () => breaker.restrict(full);
const closed = { accepting: false, slots: 10, reason: 'failing: upstream_failed' };
const probing = { accepting: true, slots: 1, reason: 'failing: upstream_failed' };

describe('failures', () => {
  it('close the worker after three without a success, and one answer opens it', async () => {
    await fail(2);
    await begin().succeed();
    await fail(2);
    expect(now()).toEqual(full);
    await fail(1);
    expect(now()).toMatchObject(closed);
    vi.advanceTimersByTime(1250);
    expect(now()).toMatchObject(probing);
    begin().write('hi');
    expect(now()).toEqual(full);
  });

  const ownFaults = ['invalid_request', 'context_length_exceeded', 'internal', 'shutting_down'] as const;
  it.each(ownFaults)('do not include %s', async (code) => {
    await fail(10, code);
    expect(now()).toEqual(full);
  });

  it('do not include cancelled jobs', async () => {
    for (let job = 0; job < 10; job += 1) await begin().cancel();
    expect(now()).toEqual(full);
  });

  it('do not include counts of tokens, which are not successes either', async () => {
    for (let job = 0; job < 10; job += 1) await begin({ operation: 'count_tokens' }).fail('upstream_failed');
    expect(now()).toEqual(full);
    await fail(2);
    await begin({ operation: 'count_tokens' }).succeed();
    await fail(1);
    expect(now()).toMatchObject(closed);
  });

  it('of probes close it again, for one to eight seconds, varied by a quarter', async () => {
    await fail(3);
    for (const seconds of [1, 2, 4, 8, 8]) {
      vi.advanceTimersByTime(seconds * 750 - 1);
      expect(now()).toMatchObject(closed);
      vi.advanceTimersByTime(seconds * 500 + 1);
      expect(now()).toMatchObject(probing);
      await fail(1);
    }
    expect(now()).toMatchObject(closed);
  });

  it('of jobs from before the probe do not close it again, and these jobs keep their slots', async () => {
    const [first, second] = [begin(), begin()];
    await fail(3);
    vi.advanceTimersByTime(1250);
    expect(now()).toMatchObject({ ...probing, slots: 3 });
    await first.fail('upstream_failed');
    expect(now()).toMatchObject({ ...probing, slots: 2 });
    second.write('hi');
    expect(now()).toEqual(full);
  });

  it('of a stream that began and broke close it again at once, and for longer', async () => {
    await fail(3);
    vi.advanceTimersByTime(1250);
    const probe = begin();
    probe.write('hi');
    expect(now()).toEqual(full);
    await probe.fail('upstream_failed');
    expect(now()).toMatchObject(closed);
    vi.advanceTimersByTime(1499);
    expect(now()).toMatchObject(closed);
  });

  it('to connect close it at once, and a health check opens it', async () => {
    await fail(1, 'worker_lost');
    expect(now()).toMatchObject({ accepting: false, reason: 'unreachable' });
    breaker.setHealthy(false);
    expect(now()).toMatchObject({ accepting: false, reason: 'unhealthy' });
    breaker.setHealthy(true);
    expect(now()).toEqual(full);
  });
});

const paused = { accepting: false, reason: 'limited: rate_limit_exceeded' };
const expectPause = (seconds: number): void => {
  vi.advanceTimersByTime(seconds * 1000 - 1);
  expect(now()).toMatchObject(paused);
  vi.advanceTimersByTime(2);
  expect(now()).toEqual(full);
};

it('a pause lasts as long as the upstream requests, at most a minute', async () => {
  for (const asked of [5, 86_400]) {
    await begin().fail('rate_limit_exceeded', asked);
    changes = 0;
    expectPause(Math.min(asked, 60));
    expect(changes).toBe(1);
  }
});

it('a pause reports when the upstream is expected to take work again, even beyond a minute', async () => {
  const inMs = () => (now().resumesAt ?? 0) - Date.now();
  await begin().fail('rate_limit_exceeded', 7200);
  expect(inMs()).toBe(7_200_000);
  vi.advanceTimersByTime(60_001);
  await begin().fail('rate_limit_exceeded');
  expect(inMs()).toBe(7_200_000 - 60_001);
  vi.advanceTimersByTime(60_001);
  begin().write('hi');
  await begin().fail('rate_limit_exceeded', 3);
  expect(inMs()).toBe(3000);
});

it('a pause reports its end also after an answer to an earlier job has begun', async () => {
  const earlier = begin();
  await begin().fail('rate_limit_exceeded', 7200);
  earlier.write('hi');
  expect((now().resumesAt ?? 0) - Date.now()).toBe(7_200_000);
});

it('a pause grows from one second to thirty if the upstream gives no time, and starts over once it answers', async () => {
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    await fail(1, 'rate_limit_exceeded');
    expectPause(seconds);
  }
  begin().write('hi');
  await fail(1, 'overloaded');
  vi.advanceTimersByTime(1001);
  expect(now()).toEqual(full);
});

it('a pause ends with its timer, even if the clock has not reached that time', async () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await begin().fail('rate_limit_exceeded', 5);
  expect(now()).toMatchObject(paused);
  vi.advanceTimersByTime(5001);
  expect(now()).toEqual(full);
});

it('a pause is one pause for all jobs that are refused together, as long as the longest', async () => {
  const jobs = [begin(), begin(), begin()];
  for (const [index, seconds] of [undefined, 3, undefined].entries())
    await jobs[index]?.fail('rate_limit_exceeded', seconds);
  expectPause(3);
});

it('an upstream without output closes the worker if three streams wait ten times as long as usual, and opens it with the first output', async () => {
  const usual = begin();
  vi.advanceTimersByTime(1000);
  usual.write('hi');
  await usual.succeed();
  const waiting = [begin(), begin(), begin()];
  vi.advanceTimersByTime(9_000);
  expect(now()).toEqual(full);
  vi.advanceTimersByTime(1_500);
  expect(now()).toMatchObject({ accepting: false, reason: 'failing: no_output' });
  waiting[1]?.write('hi');
  expect(now()).toEqual(full);
});

it('an upstream without output takes at most one further stream at a time, with the same limit', () => {
  for (let job = 0; job < 3; job += 1) begin();
  vi.advanceTimersByTime(30_600);
  expect(now().accepting).toBe(false);
  vi.advanceTimersByTime(1_250);
  expect(now()).toMatchObject({ accepting: true, slots: 4 });
  begin();
  vi.advanceTimersByTime(29_000);
  expect(now().accepting).toBe(true);
  vi.advanceTimersByTime(1_500);
  expect(now().accepting).toBe(false);
});

it('an upstream without output is not assumed while any stream goes on, nor for answers that are not streamed', () => {
  const streaming = begin();
  for (let job = 0; job < 5; job += 1) begin();
  for (let second = 0; second < 60; second += 1) {
    streaming.write('hi');
    vi.advanceTimersByTime(1000);
  }
  expect(now()).toEqual(full);
  breaker.close();
  breaker = new CircuitBreaker(silentLog, () => undefined);
  for (let job = 0; job < 5; job += 1) begin({ stream: false });
  vi.advanceTimersByTime(60_000);
  expect(now()).toEqual(full);
});

it('an upstream without output that is unhealthy for ten seconds gives up the streams that wait for their first output, and no others', async () => {
  const [waiting, begun] = [begin(), begin()];
  begun.write('hi');
  vi.advanceTimersByTime(20_000);
  breaker.setHealthy(false);
  let begunIsOver = false;
  void begun.outcome.finally(() => (begunIsOver = true));
  vi.advanceTimersByTime(10_500);
  expect(await waiting.outcome).toMatchObject({ code: 'upstream_timeout' });
  expect(begunIsOver).toBe(false);
});

it('a job that was cancelled before it began is aborted from the start, and an ended job is not aborted any more', async () => {
  const signals: AbortSignal[] = [];
  const handler = breaker.wrapHandler((_job, _reply, signal) => {
    signals.push(signal);
    return Promise.resolve(jobDone);
  });
  const reason = new Error('cancelled');
  await handler(jobWith({}), unread, AbortSignal.abort(reason));
  const client = new AbortController();
  await handler(jobWith({}), unread, client.signal);
  client.abort(reason);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(signals[0]?.reason).toBe(reason);
});
