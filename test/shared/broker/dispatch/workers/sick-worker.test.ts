import { describe } from 'vitest';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import type { ErrorCode } from '#shared/core/errors.ts';
import { toJobError } from '#shared/upstream/upstream-failure.ts';
import { jobDone } from '../../../../helpers/broker/job-done.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { addFourWorkers } from '../../../../helpers/broker/add-four-workers.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import { measureLoad } from '../../../../helpers/broker/measure-load.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../../helpers/until.ts';
import { changeHeads } from '../../../../helpers/broker/tapped-broker.ts';
import {
  isBegun,
  type Parties,
  type TestIngress,
  type TestRequest,
} from '../../../../helpers/broker/broker-parties.ts';
import { made } from '../../../../helpers/accounts/made.ts';

const serve: Step[] = [{ waitMs: 20 }, { write: 'x' }];
const sickWith = (code: ErrorCode): Step[] => [{ only: 'sick', fail: code }, ...serve];
const light = { clients: 8, pauseMs: 80, warmUpMs: 1_000, ms: 1_500 };
const saturated = { clients: 48, pauseMs: 0, warmUpMs: 1_000, ms: 1_500 };

it.for<[ErrorCode, string, typeof light]>([
  ['invalid_request', 'light load', light],
  ['upstream_failed', 'saturation', saturated],
])('one of four workers that fails with %s at %s is soon ejected', async ([code, , load], { start, expect }) => {
  const ingress = await addFourWorkers(await start());
  const { jobs, failed, moved } = await measureLoad(ingress, sickWith(code), { ...load, atLeast: 100 });
  expect(failed).toBe(0);
  // Otherwise a quarter of the jobs would go to it.
  expect(moved / jobs).toBeLessThan(0.05);
  expect(ingress.workers.get('sick')?.health.find('demo')?.ejection?.reason).toBe(code);
});

it.for<[ErrorCode]>([['worker_lost'], ['shutting_down'], ['overloaded']])(
  'two workers serve the requests beside eight that return each one at once with %s',
  async ([code], { start, expect }) => {
    const { ingress, addWaiting } = await start();
    const returners = Array.from({ length: 8 }, (_, at) => `returner-${at}`);
    const added = await addWaiting(...['a', 'b', ...returners].map((id) => ({ id, slots: 8 })));
    // All errors of the returners say that the job is not begun.
    if (code === 'overloaded')
      for (const party of added.slice(2))
        changeHeads(party, (head) => ('code' in head ? { ...head, unbegun: true } : undefined));
    const steps: Step[] = [...returners.map((only) => ({ only, fail: code })), ...serve];
    const { jobs, failed, moved } = await measureLoad(ingress, steps, { ...light, pauseMs: 20, atLeast: 200 });
    expect(failed).toBe(0);
    expect(moved / jobs).toBeLessThan(0.1);
    for (const id of returners)
      expect(ingress.workers.get(id)?.health.find('demo')?.ejection?.reason).toBe('worker_lost');
    for (const id of ['a', 'b']) expect(ingress.workers.get(id)?.health.isEjected()).toBe(false);
  },
);

describe.concurrent('a worker', () => {
  it('that stops returns all its jobs, and that ejects nobody', async ({ ingress, addWaiting, expect }) => {
    const [stopping] = await addWaiting({ id: 'stopping' }, { id: 'other' });
    const jobs = Array.from({ length: 10 }, () =>
      ingress.send({ steps: [{ only: 'stopping', hang: true }, ...serve] }),
    );
    const { health } = made(ingress.workers.get('stopping'));
    await until(() => jobs.filter((each) => isBegun(each) && each.job.attempt?.worker.id === 'stopping').length > 3);
    await stopping?.worker.drain(0);
    for (const { finished } of jobs) expect((await finished).state).toBe('done');
    expect(health.find('demo')?.outcomes.countFaultsInRow('return')).toBe(1);
    expect(health.isEjected()).toBe(false);
  });

  it('that is ejected because it returned jobs is not any more when it answers any job', async ({
    parties,
    expect,
  }) => {
    const { ingress, addWaiting } = parties;
    await addWaiting({ id: 'full' }, { id: 'other' });
    const { health } = made(ingress.workers.get('full'));
    const steps: Step[] = [{ only: 'other', fail: 'upstream_failed' }, { waitMs: 300 }, { whoami: true }];
    const running = ingress.send({ steps });
    await until(() => running.job.attempt?.worker.id === 'full');
    health.eject('demo', 'worker_lost', performance.now());
    expect((await running.finished).text).toBe('full');
    expect(health.isEjected()).toBe(false);
  });

  it('whose engine refuses connections is left out, and gets jobs again once its engine answers', async ({
    parties,
    expect,
  }) => {
    const { ingress, addWaiting } = parties;
    let isDown = false;
    const handler: JobHandler = (_, reply) => {
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      if (isDown) return Promise.reject(toJobError(refused, new AbortController().signal));
      reply.write('sick');
      return Promise.resolve(jobDone);
    };
    await addWaiting({ id: 'sick', handler }, { id: 'b' }, { id: 'c' });
    const { health } = made(ingress.workers.get('sick'));
    isDown = true;
    await until(async () => {
      const { failed } = await measureLoad(ingress, serve, { ...light, warmUpMs: 0, ms: 100 });
      expect(failed).toBe(0);
      return health.isEjected('demo');
    });
    isDown = false;
    await until(async () => {
      await measureLoad(ingress, serve, { ...light, warmUpMs: 0, ms: 100 });
      return !health.isEjected('demo');
    });
  });

  it('that serves again gets jobs, and its first success ends the ejection', async ({ parties, expect }) => {
    const ingress = await addFourWorkers(parties);
    const sick = ingress.workers.get('sick');
    await measureLoad(ingress, sickWith('upstream_failed'), { ...light, warmUpMs: 0, ms: 600, atLeast: 60 });
    expect(sick?.health.isEjected()).toBe(true);
    await until(async () => {
      await measureLoad(ingress, serve, { ...light, warmUpMs: 0, ms: 100 });
      return sick?.health.isEjected() === false;
    });
    // As many at a time as make the choice one of free slots: its first tokens of before may have been later than its peers'.
    const served = new Set<string>();
    await until(async () => {
      const jobs = Array.from({ length: 10 }, () => ingress.send({ steps: [{ waitMs: 20 }, { whoami: true }] }));
      for (const { finished } of jobs) served.add((await finished).text);
      expect(served).toContain('sick');
    });
  });

  it('is not ejected if its peers fail likewise, and most bad requests are tried once', async ({ parties, expect }) => {
    const ingress = await addFourWorkers(parties);
    const steps: Step[] = [{ waitMs: 5 }, { fail: 'invalid_request' }];
    const { jobs, failed, moved } = await measureLoad(ingress, steps, { ...light, warmUpMs: 0, ms: 600 });
    expect(failed).toBe(jobs);
    // Earlier successes of its peers count against a worker until they have refused something, too.
    expect(moved / jobs).toBeLessThan(0.5);
    for (const { health } of ingress.workers.workers()) expect(health.isEjected()).toBe(false);
  });

  it.for([
    ['one client sends', ['bad']],
    ['two clients send', ['bad', 'worse']],
  ] as const)('is not ejected if %s it bad requests beside good ones', async ([, keys], { start, expect }) => {
    const ingress = await addFourWorkers(await start());
    const workers = [...ingress.workers.workers()];
    const good = measureLoad(ingress, serve, { ...light, warmUpMs: 0, ms: 1_500 });
    const weighs = ({ health }: LiveWorker) =>
      (health.find('demo')?.outcomes.computeWeight(performance.now()) ?? 0) > 2;
    await until(() => workers.every(weighs));
    const attempts: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      const key = keys[at % keys.length] ?? '';
      // They are of one conversation, so they meet the same worker.
      const request = { affinity: 7, sender: { owner: key, key }, steps: [{ fail: 'invalid_request' as const }] };
      const report = await ingress.send(request).finished;
      expect(report.error?.code).toBe('invalid_request');
      attempts.push(report.attempts);
      for (const { health } of workers) expect(health.isEjected()).toBe(false);
    }
    expect(Math.max(...attempts)).toBeLessThanOrEqual(2);
    expect((await good).failed).toBe(0);
  });

  it('is not ejected for faults between which it serves', async ({ start, expect }) => {
    const ingress = await addFourWorkers(await start());
    const { health } = made(ingress.workers.get('sick'));
    // Each conversation meets the same worker, and this one meets the worker that fails now and then.
    const affinity = await findConversation(ingress, 'sick');
    const faulty: Step[] = [{ only: 'sick', fail: 'upstream_failed' }, { whoami: true }];
    for (let fault = 0; fault < 5; fault += 1) {
      for (let at = 0; at < 3; at += 1)
        expect((await ingress.send({ affinity, steps: [{ whoami: true }] }).finished).text).toBe('sick');
      const report = await ingress.send({ affinity, steps: faulty }).finished;
      expect(report).toMatchObject({ state: 'done', attempts: 2 });
      expect(health.isEjected()).toBe(false);
    }
  });

  it('is ejected in at most half of a pool', async ({ start, expect }) => {
    const ingress = await addFourWorkers(await start());
    const steps: Step[] = ['sick', 'b', 'c'].map((only) => ({ only, fail: 'upstream_failed' as const }));
    await measureLoad(ingress, [...steps, ...serve], { ...light, warmUpMs: 0, ms: 1_000, atLeast: 80 });
    const ejected = [...ingress.workers.workers()].filter(({ health }) => health.isEjected());
    expect(ejected).toHaveLength(2);
    expect(ejected.map(({ id }) => id)).not.toContain('d');
  });

  it('that is the only one is never ejected', async ({ ingress, addWorker, expect }) => {
    await addWorker({ id: 'sick' });
    await measureLoad(ingress, sickWith('upstream_failed'), { ...light, warmUpMs: 0, ms: 300 });
    expect(ingress.workers.get('sick')?.health.isEjected()).toBe(false);
  });
});

/** Finds a conversation whose requests go to a worker. */
async function findConversation({ send }: TestIngress, worker: string): Promise<number> {
  for (let affinity = 1; ; affinity += 0x1000_0001)
    if ((await send({ affinity, steps: [{ whoami: true }] }).finished).text === worker) return affinity;
}

type Send = (request: TestRequest & { model: string }) => Promise<string>;

/** Three workers with the models `demo` and `other`, one of which is named `sick`. `send` returns the text of an answer. */
async function addThree({ ingress, addWaiting }: Parties): Promise<{ send: Send; sick: LiveWorker }> {
  const models = ['demo', 'other'].map((id) => ({ id, capabilities: ['stream' as const] }));
  await addWaiting(...['sick', 'b', 'c'].map((id) => ({ id, slots: 4, models })));
  const sick = made(ingress.workers.get('sick'));
  const send: Send = async ({ model, ...request }) => {
    const place = () => [...ingress.workers.pools()].map((pool) => ({ pool, model }));
    return (await ingress.send({ ...request, findPlacements: place }).finished).text;
  };
  return { send, sick };
}

const whoami: Step[] = [{ whoami: true }];

describe.concurrent('an ejection', () => {
  it('applies to one model: the worker serves another model, and that does not end it', async ({ start, expect }) => {
    const { send, sick } = await addThree(await start());
    const broken: Step[] = [{ only: 'sick', fail: 'upstream_failed' }, ...whoami];
    // Its peers serve the model with which it fails.
    await until(async () => {
      await send({ model: 'demo', steps: broken });
      return sick.health.isEjected('demo');
    });
    const served = new Set<string>();
    // Three probes fail in this time.
    for (const end = performance.now() + 3_500; performance.now() < end;) {
      const [who, other] = await Promise.all([
        send({ model: 'demo', steps: broken }),
        send({ model: 'other', steps: [{ waitMs: 10 }, ...whoami] }),
      ]);
      expect(sick.health.isEjected('demo')).toBe(true);
      expect(who).not.toBe('sick');
      served.add(other);
    }
    expect(served).toContain('sick');
  });

  it('for slowness ends with a streamed answer in time, and not with a whole one', async ({ start, expect }) => {
    const { send, sick } = await addThree(await start());
    const untilServed = async (stream: boolean): Promise<void> =>
      until(async () => (await send({ model: 'demo', stream, steps: whoami })) === 'sick');
    sick.health.eject('demo', 'slow', performance.now());
    await untilServed(false);
    expect(sick.health.isEjected('demo')).toBe(true);
    await untilServed(true);
    expect(sick.health.isEjected('demo')).toBe(false);
  });

  it('ends if the worker does not serve the model any more', async ({ ingress, addWorker, expect }) => {
    const { worker, id } = await addWorker();
    const live = ingress.workers.get(id);
    live?.health.eject('demo', 'slow', performance.now());
    expect(live?.health.isEjected()).toBe(true);
    worker.update({ models: [{ id: 'new', capabilities: ['stream'] }] });
    await until(() => live?.health.isEjected() === false);
    expect(live?.pool.models.map((model) => model.id)).toEqual(['new']);
  });
});
