import { describe, it, type TestContext } from 'vitest';
import { isBegun, startParties, type Parties } from '../../helpers/broker/broker-parties.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
import { startPausableProxy } from '../../helpers/servers/pausable-proxy.ts';
import { until } from '../../helpers/until.ts';

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

describe.concurrent('an ingress', () => {
  it('that is gone leaves no job running on a worker for longer than it may be out of reach', async (context) => {
    const { expect } = context;
    const { addIngress, addWorker } = await start(context);
    const { id, worker } = await addWorker({ outOfReachMs: 4_000 });
    const doomed = await addIngress();
    await until(() => doomed.workers.get(id) !== undefined);
    const sent = doomed.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece' && worker.busy === 1);
    // Without a word to the worker, as when the process is killed.
    await doomed.broker.nc.close();
    const begin = performance.now();
    await until(() => expect(worker.busy).toBe(0), 8_000);
    expect(performance.now() - begin).toBeGreaterThan(3_900);
  });

  it('whose link is cut for most of a minute keeps its streams, and loses no token of them', async (context) => {
    const { expect } = context;
    const { addIngress, addWorker, natsUrl } = await start(context);
    const proxy = await startPausableProxy(Number(new URL(natsUrl).port));
    context.onTestFinished(() => proxy.close());
    const far = await addIngress({ natsUrl: `nats://127.0.0.1:${proxy.port}` });
    const { id } = await addWorker();
    await until(() => far.workers.get(id) !== undefined);
    const count = far.send({ steps: [{ count: 600, everyMs: 100 }] });
    // It has nothing to say while its ingress is away.
    const quiet = far.send({ steps: [{ write: 'a' }, { waitMs: 52_000 }, { write: 'b' }] });
    await until(() => [count, quiet].every(({ text }) => text().length > 0));
    proxy.cut();
    const begin = performance.now();
    await until(() => performance.now() - begin > 50_000, 55_000);
    proxy.resume();
    for (const { finished } of [count, quiet]) expect(await finished).toMatchObject({ state: 'done', attempts: 1 });
    expect(count.text()).toBe(Array.from({ length: 600 }, (_, at) => `${at}\n`).join(''));
    expect(quiet.text()).toBe('ab');
  }, 90_000);

  it('that is back answers at once for jobs that nobody waits for any more', async (context) => {
    const { expect } = context;
    const { addIngress, addWorker, natsUrl } = await start(context);
    const proxy = await startPausableProxy(Number(new URL(natsUrl).port));
    context.onTestFinished(() => proxy.close());
    const far = await addIngress({ natsUrl: `nats://127.0.0.1:${proxy.port}` });
    const { id, worker } = await addWorker();
    await until(() => far.workers.get(id) !== undefined);
    const sent = far.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece');
    proxy.cut();
    await until(() => !far.broker.connected);
    // What is published without a connection is lost.
    sent.cancel();
    proxy.resume();
    await until(() => expect(worker.busy).toBe(0), 9_000);
  });
});

describe.concurrent('a worker', () => {
  it('that stands still loses its jobs, and ends them when it wakes up', async (context) => {
    const { expect } = context;
    const { ingress, forkWorker } = await start(context);
    const first = await forkWorker({ WORKER_ID: 'first' });
    const moved = ingress.send({ steps: hangOnFirst });
    const broken = ingress.send({ steps: hangInTheMiddle });
    await until(() => isBegun(moved) && broken.text() === 'a part');
    await forkWorker({ WORKER_ID: 'second' });
    first.process.child.kill('SIGSTOP');
    expect((await broken.finished).error?.code).toBe('worker_lost');
    expect(await moved.finished).toMatchObject({ state: 'done', attempts: 2 });
    first.process.child.kill('SIGCONT');
    const aborted = (): number => first.process.lines.filter(({ msg }) => msg === 'aborted').length;
    await until(() => aborted() === 2, 2_000);
    expect(moved.text()).toBe('second');
    await until(() => ingress.workers.get('first') !== undefined, 3_000);
  });
});
