import { describe, expect, type TestContext } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { CircuitBreaker } from '#shared/worker/circuit-breaker.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { type Step, scriptedHandler } from '../../../../helpers/broker/scripted-handler.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import { until } from '../../../../helpers/until.ts';
import type { Parties } from '../../../../helpers/broker/broker-parties.ts';
import { testWorker } from '../../../../helpers/broker/test-worker.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const spareModel = { models: [{ id: 'spare', capabilities: ['stream' as const] }] };

describe.concurrent('the next attempt', () => {
  it('goes to another pool if no worker of the failed pool is known to serve', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const replicas = ['a', 'b', 'c'];
    for (const id of replicas) await addWorker({ id });
    await addWorker({ id: 'spare', ...spareModel });
    const steps = [...replicas.map((only): Step => ({ only, fail: 'upstream_failed' })), { whoami: true as const }];
    const moved = { state: 'done', attempts: 2, moves: ['upstream_failed'], text: 'spare' };
    for (const { finished } of Array.from({ length: 3 }, () => ingress.send({ steps })))
      expect(await finished).toMatchObject(moved);
  });

  it('stays in a pool whose other workers serve', async ({ ingress, addWorker, expect }) => {
    await addWorker({ id: 'b' });
    await ingress.send({}).finished;
    await addWorker({ id: 'a', slots: 64 });
    await addWorker({ id: 'spare', ...spareModel });
    await until(async () => {
      const steps: Step[] = [{ only: 'a', fail: 'upstream_failed' }, { whoami: true }];
      const { state, attempts, text } = await ingress.send({ steps }).finished;
      expect([state, text]).toEqual(['done', 'b']);
      return attempts === 2;
    });
  });

  it('may go to the worker that failed after some seconds', async ({ ingress, addWorker, expect }) => {
    await addWorker({ id: 'busy', slots: 1 });
    const other = ingress.send({ steps: [{ write: 'x' }, { hang: true }] });
    await until(() => other.job.state === 'streaming');
    let failures = 0;
    await addWorker({
      id: 'recovers',
      handler: (_, reply) => {
        failures += 1;
        if (failures === 1) throw new RouterError('upstream_failed', 'The upstream failed.');
        reply.write('served');
        return Promise.resolve(jobDone);
      },
    });
    const report = await ingress.send({}).finished;
    expect(report).toMatchObject({ state: 'done', attempts: 2, text: 'served' });
    expect(report.endedAt - report.queuedAt).toBeGreaterThan(3_000);
    other.cancel();
  });
});

it.for([
  ['is offered', true],
  ['waits for a claim', false],
] as const)('a job that %s records the rule that chose its model', async ([, offers], { start, expect }) => {
  const { ingress, addWorker } = await start({ ingress: { offers } });
  await addWorker();
  const rule = 'models.coder.purposes.auxiliary';
  const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model: 'demo', rule }));
  const { state, attempt } = await ingress.send({ findPlacements: place }).finished;
  expect([state, attempt?.placement.rule]).toEqual(['done', rule]);
});

const whoami = { steps: [{ whoami: true as const }] };

/** A worker `sick` whose circuit breaker follows its jobs, and a healthy peer. */
async function addPair(parties: Parties, { onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  let isSick = false;
  let begun = 0;
  let announce = (): void => undefined;
  const breaker = new CircuitBreaker(silentLog, () => announce());
  onTestFinished(() => breaker.close());
  const serve = scriptedHandler('sick');
  const handler = breaker.wrapHandler(async (job, reply, signal) => {
    begun += 1;
    if (isSick) throw new RouterError('upstream_failed', 'The engine fails.');
    return serve(job, reply, signal);
  });
  const [sick] = await parties.addWaiting({ id: 'sick', handler }, { id: 'healthy' });
  const { worker } = made(sick);
  announce = () => worker.update(breaker.restrict(testWorker));
  return {
    ...parties,
    /** The reason that `sick` announces. */
    reason: () => worker.status.reason,
    /** Lets its upstream fail, or serve again. */
    setSick: (sick: boolean) => void (isSick = sick),
    /** Counts the jobs that it began. */
    begun: () => begun,
  };
}

/** Sends jobs one after the other, ten a second, until a check holds. */
async function untilWithLightLoad({ ingress }: Parties, check: () => boolean): Promise<void> {
  let sentAt = performance.now();
  await until(async () => {
    if (performance.now() - sentAt < 100) return false;
    sentAt = performance.now();
    // Conversations that belong to either worker.
    const affinity = Math.floor(Math.random() * 2 ** 32);
    expect((await ingress.send({ ...whoami, affinity }).finished).state).toBe('done');
    return check();
  });
}

describe.concurrent('a probing worker', () => {
  it('gets a job within seconds beside a healthy peer, and serves again', async ({ start, expect, onTestFinished }) => {
    const pair = await addPair(await start(), { onTestFinished });
    pair.setSick(true);
    await untilWithLightLoad(pair, () => pair.reason() === 'failing: upstream_failed');
    pair.setSick(false);
    await untilWithLightLoad(pair, () => pair.reason() === undefined);
    const sick = pair.ingress.workers.get('sick');
    await until(() => expect(sick?.announcement).toMatchObject({ accepting: true, slots: 8 }));
  });

  it('takes one offer at a time, and costs few attempts while it fails', async ({ start, expect, onTestFinished }) => {
    const pair = await addPair(await start(), { onTestFinished });
    const sick = pair.ingress.workers.get('sick');
    pair.setSick(true);
    await untilWithLightLoad(pair, () => pair.reason() === 'failing: upstream_failed');
    const before = pair.begun();
    const begin = performance.now();
    await untilWithLightLoad(pair, () => performance.now() - begin > 2_000);
    // Closed for 1 and 2 seconds and so on, each less a quarter.
    const most = 1 + Math.floor(Math.log2(1 + (performance.now() - begin) / 750));
    expect(pair.begun() - before).toBeLessThanOrEqual(most);

    pair.setSick(false);
    await until(() => sick?.announcement.accepting === true && sick.announcement.slots === 1);
    sick?.health.recover('demo', performance.now());
    const jobs = Array.from({ length: 6 }, () => pair.ingress.send({ steps: [{ waitMs: 200 }, { whoami: true }] }));
    expect(jobs.filter(({ job }) => job.attempt?.worker === sick).length).toBeLessThanOrEqual(1);
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
  });
});
