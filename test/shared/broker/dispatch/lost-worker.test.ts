import { describe } from 'vitest';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';

const hangInTheMiddle: Step[] = [
  { write: 'a part' },
  { waitMs: 1 },
  { only: 'first', hang: true },
  { write: ', the rest' },
];

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

  it('killed and started anew under its id loses its jobs at once, and serves again', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const before = await addWorker({ id: 'first' });
    const streaming = ingress.send({ steps: [{ write: 'a part' }, { hang: true }] });
    await until(() => streaming.text() === 'a part');
    await before.die();
    await addWorker({ id: 'first' });
    expect((await streaming.finished).error?.code).toBe('worker_lost');
    expect((await ingress.send({}).finished).state).toBe('done');
  });

  it('that leaves takes nothing new, finishes what it runs, and is gone', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
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

  it('that leaves before its jobs are over says so: they move on without waiting', async ({ start, expect }) => {
    const { ingress, addWorker } = await start();
    const { worker } = await addWorker({ id: 'first' });
    const sent = ingress.send({ steps: [{ only: 'first', hang: true }, { whoami: true }] });
    await until(() => sent.job.state === 'claimed' && worker.busy === 1);
    await addWorker({ id: 'second' });
    const before = performance.now();
    await worker.drain(50);
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2, text: 'second' });
    expect(performance.now() - before).toBeLessThan(3_000);
  });
});
