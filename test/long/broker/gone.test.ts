import { describe, it, type TestContext } from 'vitest';
import { isBegun, startParties, type Parties } from '../../helpers/broker/broker-parties.ts';
import type { Step } from '../../helpers/broker/scripted-handler.ts';
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

describe.concurrent('an ingress that is gone', () => {
  it('leaves no job running on a worker for long', { timeout: 30_000 }, async (context) => {
    const { expect } = context;
    const { addIngress, addWorker } = await start(context);
    const { id, worker } = await addWorker();
    const doomed = await addIngress();
    await until(() => doomed.workers.get(id) !== undefined);
    const sent = doomed.send({ steps: [{ write: 'a piece' }, { hang: true }] });
    await until(() => sent.text() === 'a piece' && worker.busy === 1);
    // Without a word to the worker, as when the process is killed.
    await doomed.broker.nc.close();
    await until(() => expect(worker.busy).toBe(0), 22_000);
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
