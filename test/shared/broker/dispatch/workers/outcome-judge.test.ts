import { describe, expect, it } from 'vitest';
import { Attempt } from '#shared/broker/dispatch/attempt.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { OutcomeJudge } from '#shared/broker/dispatch/workers/outcome-judge.ts';
import { RouterError } from '#shared/core/errors.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { livePool } from '../../../../helpers/broker/live-pool.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const model = 'm';
const job = {} as Job;
const poolOf = (...ids: string[]): LiveWorker[] => [
  ...livePool(
    { tier: 'cloud', pool: 'p' },
    ids.map((id) => ({ id, slots: 8 })),
  ).workers,
];

/** Gives a worker a job now. */
function assign(worker: LiveWorker, isOffered = false): Attempt {
  const attempt = new Attempt(worker, { pool: worker.pool, model }, isOffered);
  worker.take(attempt.grant, model);
  return attempt;
}

const isEjected = ({ health }: LiveWorker): boolean => health.isEjected(model);
const isProbeDue = ({ health }: LiveWorker, now: number): boolean => health.mayTake(model, now);

describe('workers whose common upstream is away', () => {
  const judge = new OutcomeJudge(silentLog);
  const returnJob = (worker: LiveWorker): void => {
    const attempt = assign(worker);
    judge.recordReturn(attempt, performance.now());
    worker.release(attempt.grant, model);
  };
  const serveJob = (worker: LiveWorker): number => {
    const attempt = assign(worker);
    const now = performance.now();
    judge.recordServed(job, attempt, now);
    worker.release(attempt.grant, model);
    return now;
  };

  it('are probed at once when the first of them serves again', () => {
    const workers = poolOf('a', 'b', 'c');
    for (const worker of workers) for (let times = 0; times < 3; times += 1) returnJob(worker);
    expect(workers.map(isEjected)).toEqual([true, true, true]);
    const [first, ...others] = workers;
    const now = serveJob(made(first));
    expect(workers.map(isEjected)).toEqual([false, true, true]);
    for (const other of others) expect(isProbeDue(other, now)).toBe(true);
  });

  it('are probed at once only one time in each ejection, and not if they were ejected for another reason', () => {
    const [first, second, slow] = poolOf('a', 'b', 'c').map(made);
    const one = made(first);
    const two = made(second);
    slow?.health.eject(model, 'slow', performance.now());
    for (const worker of [one, two]) for (let times = 0; times < 3; times += 1) returnJob(worker);
    expect(isProbeDue(two, serveJob(one))).toBe(true);
    expect(isProbeDue(made(slow), performance.now())).toBe(false);
    for (let times = 0; times < 3; times += 1) returnJob(one);
    // The probe that became due.
    returnJob(two);
    expect(isEjected(one)).toBe(true);
    expect(isProbeDue(two, serveJob(one))).toBe(false);
  });

  it('get jobs as before if there is only one', () => {
    const only = made(poolOf('a')[0]);
    for (let times = 0; times < 5; times += 1) returnJob(only);
    expect(isEjected(only)).toBe(false);
  });
});

describe('a claimed job that a worker gives back because it lacks memory', () => {
  /** Has the worker give back jobs without memory for their bodies. */
  const giveBack = (worker: LiveWorker, isOffered = false): void => {
    const judge = new OutcomeJudge(silentLog);
    for (let times = 0; times < 5; times += 1) {
      const attempt = assign(worker, isOffered);
      judge.recordFailure(job, attempt, new RouterError('overloaded', 'no memory'), true, performance.now());
      worker.release(attempt.grant, model);
    }
  };

  it('does not count beside another job, whether that one has begun its answer or is of another dispatcher', () => {
    const [busy, elsewhere] = poolOf('busy', 'elsewhere').map(made);
    assign(made(busy));
    elsewhere?.recordHeartbeat(1);
    for (const worker of [made(busy), made(elsewhere)]) giveBack(worker);
    expect([busy, elsewhere].map((worker) => isEjected(made(worker)))).toEqual([false, false]);
  });

  it('counts without another job, and if the job was offered', () => {
    const [idle, busy] = poolOf('idle', 'busy').map(made);
    assign(made(busy));
    giveBack(made(idle));
    giveBack(made(busy), true);
    expect([idle, busy].map((worker) => isEjected(made(worker)))).toEqual([true, true]);
  });
});
