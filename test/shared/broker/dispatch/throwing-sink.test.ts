import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

/** Longer than a standstill of a busy machine. */
const totalMs = 3_000;

/** A log that collects the request ids of its errors. */
function errorLog(): { log: Logger; requestIds: unknown[] } {
  const requestIds: unknown[] = [];
  const error = (facts: { requestId?: string }): void => void requestIds.push(facts.requestId);
  return { log: Object.assign(Object.create(silentLog) as Logger, { error }), requestIds };
}

const settings = { timeouts: { totalMs, noWorkerMs: 60_000 }, keepAliveMs: 50, overflowMs: 50 };

/** Waits until the sweep has checked every job that had its total timeout. */
const totalTimeoutPasses = (): Promise<void> => sleep(totalMs + 250);

async function expectServing({ send, dispatcher }: TestIngress): Promise<void> {
  const { finished } = send({ steps: [{ whoami: true }] });
  expect(await finished).toMatchObject({ state: 'done', error: undefined, text: 'one' });
  expect(dispatcher.activeJobs).toBe(0);
}

const broken = (what: string) => (): never => {
  throw new Error(`${what} is broken`);
};

const hang: Step[] = [{ write: 'x' }, { hang: true }];

describe.concurrent('a sink that throws', () => {
  it('what is wrong with an answer passes it on, and is no failure of the router', async ({ start, expect }) => {
    const { log, requestIds } = errorLog();
    const { ingress, addWorker } = await start({ ingress: { ...settings, log } });
    await addWorker({ id: 'one' });
    const data = (): never => {
      throw new RouterError('upstream_failed', 'The upstream sent an event that is too large.');
    };
    const { finished } = ingress.send({ steps: hang, stream: true, sink: { data } });
    expect(await finished).toMatchObject({ state: 'failed', error: { code: 'upstream_failed' } });
    expect(requestIds).toEqual([]);
    await expectServing(ingress);
  });

  it.for<[keyof JobSink, Step[], string]>([
    ['begin', hang, 'internal'],
    ['data', hang, 'internal'],
    ['keepAlive', hang, 'internal'],
    ['end', [{ write: 'x' }], 'internal'],
    ['fail', [{ write: 'x' }, { waitMs: 20 }, { fail: 'upstream_failed' }], 'upstream_failed'],
  ])('in %s fails only its own job, once', async ([method, steps, code], { start, expect }) => {
    const { log, requestIds } = errorLog();
    const { ingress, addWorker } = await start({ ingress: { ...settings, log } });
    const { worker } = await addWorker({ id: 'one' });
    const failures: RouterError[] = [];
    const sink: Partial<JobSink> = {
      fail: (error) => void failures.push(error),
      [method]: (argument: unknown) => {
        if (method === 'fail') failures.push(argument as RouterError);
        throw new Error(`${method} is broken`);
      },
    };
    const sent = ingress.send({ steps, sink });
    expect(await sent.finished).toMatchObject({ state: 'failed', error: { code } });
    expect(failures.map((error) => error.code)).toEqual([code]);
    expect(requestIds).toEqual([sent.job.request.requestId]);
    expect(ingress.dispatcher.activeJobs).toBe(0);
    expect(ingress.workers.get('one')?.ownJobs).toBe(0);
    await until(() => worker.busy === 0);
    await totalTimeoutPasses();
    expect(failures).toHaveLength(1);
    await expectServing(ingress);
  });

  it('in fail when the total timeout passes fails only its own job, once', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: settings });
    const { worker } = await addWorker({ id: 'one' });
    let failures = 0;
    const fail = (): never => {
      failures += 1;
      return broken('fail')();
    };
    const jobs = [1, 2].map(() => ingress.send({ steps: hang, sink: { fail } }));
    for (const { finished } of jobs)
      expect(await finished).toMatchObject({ state: 'failed', error: { code: 'total_timeout' } });
    await until(() => worker.busy === 0);
    await totalTimeoutPasses();
    expect(failures).toBe(2);
    await expectServing(ingress);
  });

  it('in fail while the ingress drains does not keep other jobs from ending', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: settings });
    await addWorker({ id: 'one' });
    const sink = { fail: broken('fail') };
    const jobs = [ingress.send({ steps: hang, sink }), ingress.send({ steps: hang })];
    await ingress.dispatcher.drain(0);
    for (const { finished } of jobs)
      expect(await finished).toMatchObject({ state: 'failed', error: { code: 'shutting_down' } });
    expect(ingress.dispatcher.activeJobs).toBe(0);
  });
});

it.concurrent.for<keyof JobSink>(['begin', 'data', 'keepAlive', 'end'])(
  'a sink that cancels its job in %s has it cancelled, once',
  async (method, { start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: settings });
    const { worker } = await addWorker({ id: 'one' });
    const failures: RouterError[] = [];
    const steps: Step[] = method === 'end' ? [{ write: 'x' }] : hang;
    const sink = { fail: (error: RouterError) => void failures.push(error), [method]: () => sent.cancel() };
    const sent = ingress.send({ steps, sink });
    expect((await sent.finished).state).toBe('cancelled');
    await until(() => worker.busy === 0);
    await totalTimeoutPasses();
    expect(failures).toEqual([]);
    expect(ingress.workers.get('one')?.ownJobs).toBe(0);
    await expectServing(ingress);
  },
);

describe.concurrent('a request whose choice of lanes throws', () => {
  it('at first fails alone', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: settings });
    await addWorker({ id: 'one' });
    const { finished } = ingress.send({ findPlacements: broken('place') });
    expect(await finished).toMatchObject({ state: 'failed', error: { code: 'internal' } });
    await expectServing(ingress);
  });

  it('while it waits fails alone', async ({ start, expect }) => {
    const { ingress, addWorker } = await start({ ingress: settings });
    const { worker } = await addWorker({ id: 'one', slots: 0 });
    await addWorker({ id: 'two', slots: 0, kind: 'other' });
    const pools = [...ingress.workers.pools()];
    let calls = 0;
    const place = () => {
      calls += 1;
      if (calls > 1) broken('place')();
      return pools.map((pool) => ({ pool, model: 'demo', maxWaitMs: 100 }));
    };
    const sent = ingress.send({ findPlacements: place });
    expect(sent.job.state).toBe('queued');
    const changed = ingress.send({});
    // A new pool without a free slot: the lanes are chosen again, and no worker takes the job meanwhile.
    await addWorker({ id: 'three', slots: 0, kind: 'another' });
    expect(await sent.finished).toMatchObject({ state: 'failed', error: { code: 'internal' } });
    worker.update({ slots: 1 });
    expect(await changed.finished).toMatchObject({ state: 'done' });
    await expectServing(ingress);
  });
});

it.for<[string, Error | undefined, string]>([
  ['ends nothing that has ended', undefined, 'done'],
  ['ends nothing that has failed', new Error('end is broken'), 'failed'],
])('a total timeout that passes in the turn of the end frame %s', async ([, thrown, state], { start }) => {
  const { ingress, addWorker } = await start({ ingress: settings });
  const { worker } = await addWorker({ id: 'one' });
  let endings = 0;
  const sent = ingress.send({
    steps: [{ write: 'x' }],
    sink: {
      end: () => {
        endings += 1;
        while (performance.now() - sent.job.queuedAt <= totalMs + 50);
        if (thrown) throw thrown;
      },
    },
  });
  expect((await sent.finished).state).toBe(state);
  await sleep(250);
  expect(endings).toBe(1);
  expect(ingress.workers.get('one')?.ownJobs).toBe(0);
  expect(worker.busy).toBe(0);
  await expectServing(ingress);
});
