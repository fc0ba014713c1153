import { describe, expect } from 'vitest';
import { made } from '../../../helpers/accounts/made.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';
import type { TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';

const hangInTheMiddle: Step[] = [{ write: 'a part' }, { only: 'first', hang: true }, { write: ', the rest' }];

describe.concurrent('a worker', () => {
  it('killed in the middle of a stream: an error says so, and no text comes twice', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const first = await addWorker({ id: 'first' });
    const sent = ingress.send({ steps: hangInTheMiddle });
    await until(() => sent.text() === 'a part');
    await addWorker({ id: 'second' });
    await first.die();
    const error = { code: 'worker_lost' };
    expect(await sent.finished).toMatchObject({ state: 'failed', attempts: 1, error, text: 'a part' });
  });

  it('killed and restarted under its id loses its jobs at once, and serves again', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const before = await addWorker({ id: 'first' });
    const streaming = ingress.send({ steps: [{ write: 'a part' }, { hang: true }] });
    await until(() => streaming.text() === 'a part');
    await before.die();
    await addWorker({ id: 'first' });
    expect((await streaming.finished).error?.code).toBe('worker_lost');
    expect((await ingress.send({}).finished).state).toBe('done');
  });

  it('that leaves takes nothing new, finishes its jobs, and is gone', async ({ ingress, addWorker, expect }) => {
    const { worker } = await addWorker({ id: 'first' });
    const running = ingress.send({ steps: [{ write: 'a' }, { waitMs: 700 }, { write: 'b' }] });
    await until(() => running.text() === 'a');
    const stopped = worker.drain(10_000).then(() => worker.close());
    await until(() => ingress.workers.get('first')?.announcement.accepting === false);
    const next = ingress.send({ steps: [{ whoami: true }] });
    await addWorker({ id: 'second' });
    expect(await next.finished).toMatchObject({ state: 'done', text: 'second' });
    expect(await running.finished).toMatchObject({ state: 'done', text: 'ab' });
    await stopped;
    await until(() => ingress.workers.get('first') === undefined);
  });

  it('that leaves before its jobs have ended returns them: they move without a wait', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const { worker } = await addWorker({ id: 'first' });
    const sent = ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] });
    await until(() => sent.job.state === 'claimed' && worker.busy === 1);
    await addWorker({ id: 'second' });
    const before = performance.now();
    await worker.drain(50);
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2, text: 'second' });
    // Before the silence of the first one would be noticed.
    expect(performance.now() - before).toBeLessThan(9_000);
  });
});

function operatorOf({ broker, workers }: TestIngress) {
  return {
    command: (worker: string, payload: string) =>
      broker.publish(broker.subjects.drain(made(workers.get(worker)).address), payload),
    isDraining: (id: string) => workers.get(id)?.announcement.draining === true,
  };
}

describe('a worker that an operator drains', () => {
  it('announces it, finishes its jobs, and takes new ones once it is undrained', async ({ ingress, addWorker }) => {
    const { command, isDraining } = operatorOf(ingress);
    const gate = Promise.withResolvers<void>();
    const handler = () => gate.promise.then(() => jobDone);
    const { id, worker } = await addWorker({ handler });
    const running = ingress.send({});
    await until(() => worker.busy === 1);
    command(id, 'drain');
    await until(() => isDraining(id));
    expect(ingress.workers.get(id)?.announcement.accepting).toBe(false);
    const waiting = ingress.send({});
    gate.resolve();
    expect((await running.finished).state).toBe('done');
    await ingress.broker.flush();
    expect([waiting.job.state, worker.busy]).toEqual(['queued', 0]);
    command(id, 'undrain');
    expect((await waiting.finished).state).toBe('done');
    expect(isDraining(id)).toBe(false);
  });

  it('ignores commands that it does not support, and announces its host name', async ({ ingress, addWorker }) => {
    const { id } = await addWorker();
    operatorOf(ingress).command(id, 'explode');
    expect((await ingress.send({}).finished).state).toBe('done');
    expect(ingress.workers.get(id)?.announcement.host).toMatch(/./);
  });
});
