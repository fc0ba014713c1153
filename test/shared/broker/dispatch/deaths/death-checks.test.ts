import { describe, it, type TestContext } from 'vitest';
import { encodeError } from '#shared/broker/contract/frame.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isBegun, startParties, untilOffersAreTaken, type TestJob } from '../../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import { least } from '../../../../helpers/least.ts';
import { until } from '../../../../helpers/until.ts';

/** Never answers at the first two workers. */
const steps: Step[] = [{ only: 'one', hang: true }, { only: 'two', hang: true }, { whoami: true }];

/** A job that seems to have lost the worker `one` by its death, and is at `two`. Its second death comes with `die`. */
async function start({ onTestFinished }: TestContext) {
  const parties = await startParties({ ingress: { ingress: 'in' } });
  onTestFinished(() => parties.close());
  const { ingress, addWorker } = parties;
  const { broker } = ingress;
  const one = await addWorker({ id: 'one' });
  const job = ingress.send({ steps });
  await until(() => isBegun(job));
  await addWorker({ id: 'two' });
  // As another process in the worker's place answers that is asked for the job.
  const die = ({ job: { attempt } }: TestJob): void => {
    const error = new RouterError('worker_lost', 'A part of the answer was lost on its way.');
    const startedAt = (attempt?.worker.announcement.startedAt ?? 0) + 1;
    broker.publish(`${broker.subjects.reply('in', attempt?.grant ?? '')}.x.0`, encodeError(error, { startedAt }));
  };
  // Heartbeats would show it after two seconds.
  const known = ingress.workers.get('one');
  if (known) known.life.onHeartbeat = () => undefined;
  die(job);
  await until(() => job.job.attempt?.worker.id === 'two' && isBegun(job));
  await addWorker({ id: 'three' });
  return { ingress, job, one, die: () => die(job) };
}

describe.concurrent('a job whose second worker dies', () => {
  it('goes to a third one when the first answers: it had only lost its connection', async (context) => {
    const { expect } = context;
    const { job, one, die } = await start(context);
    die();
    expect(await job.finished).toMatchObject({ state: 'done', attempts: 3 });
    expect([job.text(), job.job.death?.worker.id]).toEqual(['three', 'two']);
    expect(one.worker.busy).toBe(0);
  });

  it('ends within three and a half seconds when the first does not', async (context) => {
    const { expect } = context;
    const end = async (): Promise<number> => {
      const { job, one, die } = await start(context);
      await one.broker.nc.close();
      const begun = performance.now();
      die();
      const report = await job.finished;
      expect(report).toMatchObject({ state: 'failed', attempts: 2, error: { code: 'workers_died' } });
      return report.endedAt - begun;
    };
    expect(await least(end, 3_500, 3)).toBeLessThan(3_500);
  });

  it('goes on where it is when frames of it come meanwhile', async (context) => {
    const { expect } = context;
    const { ingress, job, one } = await start(context);
    await one.broker.nc.close();
    const { attempt } = job.job;
    if (!attempt) throw new Error('the job is at no worker');
    // Its heartbeats seem to be missed for a while.
    await until(() => {
      attempt.worker.lastHeartbeatAt = attempt.worker.lastFrameAt = Number.NEGATIVE_INFINITY;
      return ingress.workers.get('two') !== attempt.worker;
    });
    const { broker } = ingress;
    const { subjects } = broker;
    broker.publish(subjects.retransmit(attempt.worker.address), `${subjects.reply('in', attempt.grant)} 0`);
    const since = performance.now();
    await until(() => performance.now() - since > 4_000, 6_000);
    expect([job.job.state, job.job.attempt === attempt]).toEqual(['claimed', true]);
    job.cancel();
  });
});

describe.concurrent('a worker of which no frame comes', () => {
  const timeouts = { silenceMs: 3_000 };

  it('and no heartbeat either has died with its job', async (context) => {
    const { expect } = context;
    const parties = await startParties({ ingress: { timeouts } });
    context.onTestFinished(() => parties.close());
    const { ingress, forkWorker } = parties;
    const { process } = await forkWorker({ WORKER_ID: 'one' });
    const sent = ingress.send({ steps: [{ only: 'one', hang: true }, { whoami: true }] });
    await until(() => isBegun(sent));
    await forkWorker({ WORKER_ID: 'two' });
    // No silence of heartbeats is to be noticed first.
    const beating = setInterval(() => {
      const worker = ingress.workers.get('one');
      if (worker) worker.lastHeartbeatAt = performance.now();
    }, 100);
    context.onTestFinished(() => clearInterval(beating));
    process.child.kill('SIGSTOP');
    expect(await sent.finished).toMatchObject({ state: 'done', moves: ['worker_lost'] });
    expect(sent.job.death?.worker.id).toBe('one');
  });

  it('but heartbeats do has lost it', async (context) => {
    const { expect } = context;
    const parties = await startParties({ ingress: { timeouts } });
    context.onTestFinished(() => parties.close());
    const { ingress, addWorker, forkWorker } = parties;
    const { broker } = await addWorker({ id: 'one' });
    const sent = ingress.send({ steps: [{ only: 'one', hang: true }, { whoami: true }] });
    await until(() => isBegun(sent));
    await forkWorker({ WORKER_ID: 'two' });
    const publish = broker.publish.bind(broker);
    broker.publish = (subject, ...message) => {
      if (!subject.startsWith(broker.subjects.reply('', '').split('..')[0] ?? '')) publish(subject, ...message);
    };
    expect(await sent.finished).toMatchObject({ state: 'done', moves: ['worker_lost'] });
    expect(sent.job.death).toBeUndefined();
  });
});

it(
  'a worker that died before an offer came to it has not died with the job',
  { timeout: 20_000 },
  async ({ expect, onTestFinished }) => {
    const parties = await startParties();
    onTestFinished(() => parties.close());
    const { ingress, forkWorker } = parties;
    const { process } = await forkWorker({ WORKER_ID: 'one' });
    await untilOffersAreTaken(ingress);
    const { broker } = ingress;
    const publish = broker.publish.bind(broker);
    broker.publish = (subject, payload, reply) => {
      if (subject !== ingress.workers.get('one')?.announcement.offersAt) publish(subject, payload, reply);
    };
    const sent = ingress.send({ steps: [{ whoami: true }] });
    expect(sent.job.attempt?.worker.id).toBe('one');
    await Promise.all([process.kill(), forkWorker({ WORKER_ID: 'two' })]);
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 1 });
    expect([sent.text(), sent.job.death]).toEqual(['two', undefined]);
  },
);
