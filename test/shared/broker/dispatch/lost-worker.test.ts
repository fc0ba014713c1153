import { describe, it, type TestContext } from 'vitest';
import { isBegun, startParties, type Parties } from '../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { until } from '../../../helpers/until.ts';

async function start({ onTestFinished }: TestContext): Promise<Parties> {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  return parties;
}

/** Hangs on the first worker, and writes the id of any other that serves. */
const hangOnFirst: Step[] = [{ only: 'first', hang: true }, { whoami: true }];
const hangInTheMiddle: Step[] = [
  { write: 'a part' },
  { waitMs: 1 },
  { only: 'first', hang: true },
  { write: ', the rest' },
];

describe.concurrent('a worker', { timeout: 30_000 }, () => {
  it('killed after its claim and before its first piece: another one serves, and the client sees nothing', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context);
    const first = await forkWorker({ WORKER_ID: 'first' });
    const sent = ingress.send({ steps: hangOnFirst });
    const whole = ingress.send({ steps: hangOnFirst, stream: false });
    await until(() => [sent, whole].every(isBegun));
    await forkWorker({ WORKER_ID: 'second' });
    const killedAt = performance.now();
    await first.process.kill();
    for (const { finished, text } of [sent, whole]) {
      expect(await finished).toMatchObject({ state: 'done', attempts: 2, error: undefined });
      expect(text()).toBe('second');
    }
    expect(performance.now() - killedAt).toBeLessThan(4_500);
  });

  it('killed in the middle of a stream: an error says so, and no text comes twice', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context);
    const first = await forkWorker({ WORKER_ID: 'first' });
    const sent = ingress.send({ steps: hangInTheMiddle });
    await until(() => sent.text() === 'a part');
    await forkWorker({ WORKER_ID: 'second' });
    await first.process.kill();
    expect(await sent.finished).toMatchObject({ state: 'failed', attempts: 1, error: { code: 'worker_lost' } });
    expect(sent.text()).toBe('a part');
  });

  it('killed and started anew under the same id loses its jobs at once, and serves again', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context);
    const before = await forkWorker({ WORKER_ID: 'first' });
    const streaming = ingress.send({ steps: [{ write: 'a part' }, { hang: true }] });
    await until(() => streaming.text() === 'a part');
    await before.process.kill();
    await forkWorker({ WORKER_ID: 'first' });
    expect((await streaming.finished).error?.code).toBe('worker_lost');
    const next = ingress.send({ steps: [{ whoami: true }] });
    expect((await next.finished).state).toBe('done');
  });

  it('that leaves takes nothing new, finishes what it runs, and is gone', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context);
    const first = await forkWorker({ WORKER_ID: 'first' });
    const running = ingress.send({ steps: [{ write: 'a' }, { waitMs: 700 }, { write: 'b' }] });
    await until(() => running.text() === 'a');
    const stopped = first.process.stop();
    await until(() => ingress.workers.get('first')?.announcement.accepting === false, 1_000);
    const next = ingress.send({ steps: [{ whoami: true }] });
    await forkWorker({ WORKER_ID: 'second' });
    expect((await next.finished).state).toBe('done');
    expect(next.text()).toBe('second');
    expect((await running.finished).state).toBe('done');
    expect(running.text()).toBe('ab');
    expect(await stopped).toBe(0);
    expect(ingress.workers.get('first')).toBeUndefined();
  });

  it('that has to leave before its jobs are over says so itself: they move on without waiting for its silence', async (context) => {
    const { expect } = context;
    const { ingress, addWorker } = await start(context);
    const { worker } = await addWorker({ id: 'first' });
    const sent = ingress.send({ steps: hangOnFirst });
    await until(() => sent.job.state === 'claimed' && worker.busy === 1);
    await addWorker({ id: 'second' });
    const before = performance.now();
    await worker.drain(50);
    expect(await sent.finished).toMatchObject({ state: 'done', attempts: 2 });
    expect(sent.text()).toBe('second');
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
