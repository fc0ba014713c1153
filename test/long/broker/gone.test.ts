import { setTimeout as sleep } from 'node:timers/promises';
import { describe } from 'vitest';
import { it } from '../../helpers/broker/it-with-parties.ts';
import { FrameMemory } from '#shared/broker/worker/frame-memory.ts';
import { isBegun, type TestRequest } from '../../helpers/broker/broker-parties.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
import { until } from '../../helpers/until.ts';

/** Hangs on the first worker, and writes the id of any other that serves. */
const hangOnFirst: Step[] = [{ only: 'first', hang: true }, { whoami: true }];
const hangInTheMiddle: Step[] = [
  { write: 'a part' },
  { waitMs: 1 },
  { only: 'first', hang: true },
  { write: ', the rest' },
];

describe.concurrent('an ingress', () => {
  it('that is gone leaves no job running on a worker for longer than it may be out of reach', async ({
    start,
    expect,
  }) => {
    const { addIngress, addWorker } = await start();
    const { id, worker } = await addWorker({ outOfReachMs: 4_000 });
    const doomed = await addIngress();
    await until(() => doomed.workers.get(id) !== undefined);
    const sent = doomed.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece' && worker.busy === 1);
    // Without a word to the worker, as when the process is killed.
    await doomed.broker.nc.close();
    const begin = performance.now();
    await until(() => expect(worker.busy).toBe(0));
    expect(performance.now() - begin).toBeGreaterThan(3_900);
  });

  it('whose link is cut for most of a minute keeps its streams, and loses no token of them', async ({
    start,
    expect,
  }) => {
    const { addFarIngress, addWorker } = await start();
    const { far, proxy } = await addFarIngress();
    const { id } = await addWorker();
    await until(() => far.workers.get(id) !== undefined);
    const count = far.send({ steps: [{ count: 600, everyMs: 100 }] });
    // It has nothing to say while its ingress is away.
    const quiet = far.send({ steps: [{ write: 'a' }, { waitMs: 52_000 }, { write: 'b' }] });
    await until(() => [count, quiet].every(({ text }) => text().length > 0));
    proxy.cut();
    await sleep(50_000);
    proxy.resume();
    const counted = Array.from({ length: 600 }, (_, at) => `${at}\n`).join('');
    for (const [{ finished }, text] of [[count, counted] as const, [quiet, 'ab'] as const])
      expect(await finished).toMatchObject({ state: 'done', attempts: 1, text });
  });

  it('that is back answers at once for jobs that nobody waits for any more', async ({ start, expect }) => {
    const { addFarIngress, addWorker } = await start();
    const { far, proxy } = await addFarIngress();
    const { id, worker } = await addWorker();
    await until(() => far.workers.get(id) !== undefined);
    const sent = far.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece');
    proxy.cut();
    await until(() => !far.broker.connected);
    // What is published without a connection is lost.
    sent.cancel();
    proxy.resume();
    // Alone, the worker would go on for a minute.
    await until(() => expect(worker.busy).toBe(0), 20_000);
  });
});

describe.concurrent('a worker', () => {
  it('that stands still loses its jobs, and ends them when it wakes up', async ({ start, expect }) => {
    const { ingress, forkWorker } = await start();
    const first = await forkWorker({ WORKER_ID: 'first' });
    const moved = ingress.send({ steps: hangOnFirst });
    const broken = ingress.send({ steps: hangInTheMiddle });
    await until(() => isBegun(moved) && broken.text() === 'a part');
    await forkWorker({ WORKER_ID: 'second' });
    first.process.child.kill('SIGSTOP');
    expect((await broken.finished).error?.code).toBe('worker_lost');
    expect(await moved.finished).toMatchObject({ state: 'done', attempts: 2, text: 'second' });
    first.process.child.kill('SIGCONT');
    await until(() => first.process.lines.filter(({ msg }) => msg === 'aborted').length === 2);
    await until(() => ingress.workers.get('first') !== undefined);
  });

  it('releases all frames of its answers, however they ended', async ({ start, expect }) => {
    const memory = new FrameMemory();
    const { ingress, addWorker } = await start();
    await addWorker({ memory });
    const requests: TestRequest[] = [
      { steps: [{ write: 'all of it' }] },
      { stream: true, steps: [{ count: 5, everyMs: 10 }] },
      { stream: true, steps: [{ write: 'a piece' }, { fail: 'upstream_failed' }] },
    ];
    await Promise.all(requests.map((request) => ingress.send(request).finished));
    const left = ingress.send({ stream: true, steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => left.text() === 'a piece');
    left.cancel();
    // All are kept while the connection is young: one of the whole answer, at least one piece and one end of each of the two
    // streams, and one piece of the last.
    expect(memory.frames).toBeGreaterThanOrEqual(6);
    await until(() => memory.frames === 0);
  });
});
