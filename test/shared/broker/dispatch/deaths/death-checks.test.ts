import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { Death } from '#shared/broker/dispatch/deaths/death.ts';
import { DeathChecks } from '#shared/broker/dispatch/deaths/death-checks.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { WorkerLink } from '#shared/broker/dispatch/worker-link.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { isBegun, loseAsStranger, placementsIn } from '../../../../helpers/broker/broker-parties.ts';
import type { Parties, TestJob } from '../../../../helpers/broker/broker-parties.ts';
import { it } from '../../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { least } from '../../../../helpers/least.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';
import { until } from '../../../../helpers/until.ts';

/** A worker that is asked whether it lives has a second to show it. */
const longerThanCheckMs = 1_500;

/** A step that hangs at the first two workers. */
const steps: Step[] = [{ only: 'one', hang: true }, { only: 'two', hang: true }, { whoami: true }];

/** A job that seems to have lost the worker `one` by its death, and runs at `two`. `die` causes the second death. */
async function loseOne({ ingress, addWorker }: Parties) {
  const { subjects } = ingress.broker;
  const one = await addWorker({ id: 'one' });
  const job = ingress.send({ steps });
  await until(() => isBegun(job));
  const two = await addWorker({ id: 'two' });
  const die = (): void =>
    loseAsStranger(ingress, job, { startedAt: (job.job.attempt?.worker.announcement.startedAt ?? 0) + 1 });
  // After two seconds, heartbeats would show that it lives.
  one.loseSent(({ subject }) => subject.startsWith(`${subjects.prefix}.heartbeat.`));
  die();
  await until(() => job.job.attempt?.worker.id === 'two' && isBegun(job));
  await addWorker({ id: 'three' });
  return { job, one, two, die };
}

describe.concurrent('a job whose second worker dies', () => {
  it('goes to a third one when the first answers: it had only lost its connection', async ({ start, expect }) => {
    const { job, one, die } = await loseOne(await start());
    die();
    expect(await job.finished).toMatchObject({ state: 'done', attempts: 3, text: 'three' });
    expect(job.job.death?.worker.id).toBe('two');
    expect(one.worker.busy).toBe(0);
  });

  it('ends within three and a half seconds if the first worker does not answer', async ({ start, expect }) => {
    const end = async (): Promise<number> => {
      const { job, one, die } = await loseOne(await start());
      await one.die();
      const begun = performance.now();
      die();
      const report = await job.finished;
      expect(report).toMatchObject({ state: 'failed', attempts: 2, error: { code: 'workers_died' } });
      return report.endedAt - begun;
    };
    expect(await least(end, 3_500, 3)).toBeLessThan(3_500);
  });

  it('stays at its second worker if frames come from it meanwhile', async ({ start, expect }) => {
    const parties = await start();
    const { id, workers, broker } = parties.ingress;
    const { job, one, two } = await loseOne(parties);
    await one.die();
    const { attempt } = job.job;
    const goOn = two.freeze();
    let isLost = false;
    workers.onLost((worker) => {
      if (worker !== attempt?.worker) return;
      isLost = true;
      goOn();
      broker.publish(broker.subjects.retransmit(worker.address), `${broker.subjects.reply(id, attempt.grant)} 0`);
    });
    await until(() => isLost);
    await sleep(longerThanCheckMs);
    expect([job.job.state, job.job.attempt === attempt]).toEqual(['claimed', true]);
    job.cancel();
  });
});

describe.concurrent('a worker that sends no frames', () => {
  async function loseFrames({ ingress, addWorker, prefix }: Parties, losesAll: boolean): Promise<TestJob> {
    const one = await addWorker({ id: 'one' });
    const sent = ingress.send({ steps: [{ only: 'one', hang: true }, { whoami: true }] });
    await until(() => isBegun(sent));
    await addWorker({ id: 'two' });
    one.loseSent(({ subject }) => losesAll || subject.startsWith(`${prefix}.reply.`));
    return sent;
  }

  it('and no heartbeat either has died with its job', async ({ start, expect }) => {
    // Before the missing heartbeats are noticed.
    const sent = await loseFrames(await start({ ingress: { timeouts: { silenceMs: 2_000 } } }), true);
    expect(await sent.finished).toMatchObject({ state: 'done', moves: ['worker_lost'] });
    expect(sent.job.death?.worker.id).toBe('one');
  });

  it('but sends heartbeats has lost its job without dying', async ({ start, expect }) => {
    const sent = await loseFrames(await start({ ingress: { timeouts: { silenceMs: 3_000 } } }), false);
    expect(await sent.finished).toMatchObject({ state: 'done', moves: ['worker_lost'] });
    expect(sent.job.death).toBeUndefined();
  });
});

it('a worker that died before an offer came to it has not died with the job', async ({ start, expect }) => {
  const { ingress, addWorker, addWaiting } = await start();
  const [one] = await addWaiting({ id: 'one' });
  const offersAt = ingress.workers.get('one')?.announcement.offersAt;
  ingress.loseSent(({ subject }) => subject === offersAt);
  const sent = ingress.send({ steps: [{ whoami: true }] });
  expect(sent.job.attempt?.worker.id).toBe('one');
  await Promise.all([one?.die(), addWorker({ id: 'two' })]);
  expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1, text: 'two' });
  expect(sent.job.death).toBeUndefined();
});

it.for([
  ['was started after it had taken the job, has died with it', 1, 'first'],
  ['was started before, as its clock says, has died with it', -1, 'first'],
  ['is the one that had taken the job, has lost it', 0, undefined],
] as const)('a worker that does not know a job and %s', async ([, laterMs, died], { start, expect }) => {
  const { ingress, addWorker } = await start();
  await addWorker({ id: 'first' });
  const sent = ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] });
  await until(() => isBegun(sent));
  await addWorker({ id: 'second' });
  const { startedAt = 0 } = sent.job.attempt?.worker.announcement ?? {};
  loseAsStranger(ingress, sent, { startedAt: startedAt + laterMs });
  expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2 });
  expect(sent.job.death?.worker.id).toBe(died);
});

it.concurrent.for(['SIGSTOP', 'SIGKILL'] as const)(
  'a late job of an ejected worker that has got %s stays until it has died with it',
  async (signal, { ingress, addWaiting, forkWorker, expect }) => {
    const { process, id } = await forkWorker();
    const late = ingress.send({ steps: [{ only: id, hang: true }, { whoami: true }] });
    await until(() => isBegun(late));
    await addWaiting({ id: 'b' }, { id: 'c' });
    // Its peers' first tokens show that it is late.
    await Promise.all(Array.from({ length: 20 }, () => ingress.send({ steps: [{ write: 'x' }] }).finished));
    const worker = ingress.workers.get(id);
    await until(() => late.job.attempt?.isLate === true);
    // Its last heartbeat came just before.
    await until(() => performance.now() - (worker?.lastHeartbeatAt ?? 0) < 200);
    process.child.kill(signal);
    worker?.health.eject('demo', 'slow', performance.now());
    expect(await late.finished).toMatchObject({ state: 'done', attempts: 2 });
    expect(late.job.death?.worker.id).toBe(id);
  },
);

it.for([
  ['without having begun it goes to another worker', true, { state: 'done', attempts: 2 }],
  ['after it was begun ends', undefined, { state: 'failed', attempts: 1 }],
] as const)('a tool call that its worker returns %s', async ([, unbegun, outcome], { start, expect }) => {
  const { ingress, addWorker } = await start();
  await addWorker({ id: 'first' });
  const sent = ingress.send({ operation: 'execute_tool', steps: [{ only: 'first', hang: true }, { whoami: true }] });
  await until(() => isBegun(sent));
  await addWorker({ id: 'second' });
  loseAsStranger(ingress, sent, { unbegun });
  expect(await sent.finished).toMatchObject(outcome);
});

/** Three workers that take offers, and `only`, whose jobs are offered to one of them. */
async function addThree({ ingress, addWaiting }: Parties) {
  const made = await addWaiting(...['one', 'two', 'three'].map((id) => ({ id, kind: id })));
  let wanted: string | undefined = 'one';
  const isWanted = ({ workers }: LivePool) => [...workers].some(({ id }) => wanted === undefined || id === wanted);
  const place = (avoid: ReadonlySet<string>) => placementsIn(ingress.workers, isWanted, avoid);
  return {
    send: (steps: Step[]): TestJob => ingress.send({ steps, findPlacements: place }),
    only: (id: string | undefined) => void (wanted = id),
    freeze: (id: string) => made.find((each) => each.id === id)?.freeze(),
    freezeAll: () => made.map(({ freeze }) => freeze()),
    /** Resolves when its process ends. */
    end: (id: string) => made.find((each) => each.id === id)?.broker.nc.closed(),
    /** Those whose process has ended. */
    ended: () => made.filter(({ broker }) => broker.nc.isClosed()).map(({ id }) => id),
  };
}

/** Ends whoever serves it. */
const kill: Step[] = [{ die: true }];

describe.concurrent('an offer that gets no answer', () => {
  it('counts as a death of a worker that sends no heartbeats either', async ({ start, expect }) => {
    const { send, only, freeze, ended } = await addThree(await start());
    freeze('one');
    const sent = send(kill);
    expect(sent.job.attempt?.worker.id).toBe('one');
    await until(() => sent.job.death !== undefined);
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    expect(ended()).toHaveLength(1);
  });

  it('is no death while no heartbeats come at all, as of a blocked broker', async ({ parties, expect }) => {
    const { send, only, freezeAll } = await addThree(parties);
    const goOn = freezeAll();
    const sent = send([{ whoami: true }]);
    await until(() => sent.job.attempt?.worker.id !== 'one');
    expect(sent.job.death).toBeUndefined();
    for (const each of goOn) each();
    only(undefined);
    expect((await sent.finished).state).toBe('done');
  });

  it('is not made to a third worker before the state of the second is known', async ({ start, expect }) => {
    const { send, only, freeze, end, ended } = await addThree(await start());
    const sent = send(kill);
    only('two');
    // A worker whose heartbeat is late gets no offers.
    await end('one');
    freeze('two');
    await until(() => sent.job.death !== undefined && sent.job.attempt?.worker.id === 'two');
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    expect(ended()).toEqual(['one']);
  });
});

it('a worker whose answer waits while its dispatcher is blocked lives', async ({ expect }) => {
  const { promise, resolve: onVerdict } = Promise.withResolvers<boolean>();
  const announcement = { startedAt: 1 };
  const death = { grant: 'g', worker: { id: 'one', announcement }, diedAt: performance.now() - 10_000 } as Death;
  const link = { sendDeathCheck: () => undefined } as unknown as WorkerLink;
  const checks = new DeathChecks({ connected: true } as Broker, { get: () => undefined }, link, silentLog);
  checks.start({ request: {} } as Job, death, { isWanted: () => true, isRefuted: () => false, onVerdict });
  await sleep(300);
  const begun = performance.now();
  while (performance.now() - begun < 1_500);
  // Timers come first: the answer is read in a later turn of the event loop.
  await sleep(50);
  checks.onAnswer('g', () => announcement);
  expect(await promise).toBe(false);
});

it('an answer for which no check waits is not read, however large it is', ({ expect }) => {
  let readAnswers = 0;
  const checks = new DeathChecks({} as Broker, { get: () => undefined }, {} as WorkerLink, silentLog);
  checks.onAnswer('g', () => {
    readAnswers += 1;
    return { startedAt: 1 };
  });
  expect(readAnswers).toBe(0);
});
