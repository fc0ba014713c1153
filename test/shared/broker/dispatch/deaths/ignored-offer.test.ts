import { describe, it, type TestContext } from 'vitest';
import { startParties, untilOffersAreTaken, type Parties } from '../../../../helpers/broker/broker-parties.ts';
import type { Step } from '../../../../helpers/broker/scripted-handler.ts';
import type { ServiceProcess } from '../../../../helpers/processes/start-process.ts';
import { until } from '../../../../helpers/until.ts';

/** Ends the process of whoever serves it. */
const kill: Step[] = [{ die: true }];

/** Three workers that take offers, and `only`, which has each offer made to this one of them. */
async function start({ onTestFinished }: TestContext) {
  const parties: Parties = await startParties();
  onTestFinished(() => parties.close());
  const { ingress, forkWorker } = parties;
  const processes: Record<string, ServiceProcess> = {};
  for (const id of ['one', 'two', 'three']) processes[id] = (await forkWorker({ WORKER_ID: id })).process;
  await untilOffersAreTaken(ingress);
  let wanted: string | undefined;
  const timer = setInterval(() => {
    for (const worker of ingress.workers.workers()) {
      if (wanted !== undefined) worker.hasRefused = worker.id !== wanted;
    }
  }, 5);
  onTestFinished(() => clearInterval(timer));
  const only = (id: string | undefined): void => {
    wanted = id;
    for (const worker of ingress.workers.workers()) worker.hasRefused = id !== undefined && worker.id !== id;
  };
  return { ingress, only, signal: (id: string, name: NodeJS.Signals) => processes[id]?.child.kill(name), processes };
}

describe.concurrent('an offer that is not answered', { timeout: 30_000 }, () => {
  it('counts as a death of a worker that sends no heartbeats either', async (context) => {
    const { expect } = context;
    const { ingress, only, signal, processes } = await start(context);
    signal('one', 'SIGSTOP');
    only('one');
    const sent = ingress.send({ steps: kill });
    expect(sent.job.attempt?.worker.id).toBe('one');
    await until(() => sent.job.death !== undefined, 5_000);
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    const ended = ['two', 'three'].filter((id) => processes[id]?.child.signalCode ?? processes[id]?.child.exitCode);
    expect(ended).toHaveLength(1);
  });

  it('counts as none while no heartbeats come at all: the broker may stand still', async (context) => {
    const { expect } = context;
    const { ingress, only, signal } = await start(context);
    only('one');
    for (const id of ['one', 'two', 'three']) signal(id, 'SIGSTOP');
    const sent = ingress.send({ steps: [{ whoami: true }] });
    await until(() => sent.job.attempt?.worker.id !== 'one', 5_000);
    expect(sent.job.death).toBeUndefined();
    for (const id of ['one', 'two', 'three']) signal(id, 'SIGCONT');
    only(undefined);
    expect((await sent.finished).state).toBe('done');
  });

  it('is not made to a third worker before it is clear what became of the second', async (context) => {
    const { expect } = context;
    const { ingress, only, signal, processes } = await start(context);
    only('one');
    const sent = ingress.send({ steps: kill });
    signal('two', 'SIGSTOP');
    only('two');
    await until(() => sent.job.death !== undefined && sent.job.attempt?.worker.id === 'two', 5_000);
    only(undefined);
    expect((await sent.finished).error?.code).toBe('workers_died');
    expect(processes['three']?.child.signalCode ?? processes['three']?.child.exitCode).toBeNull();
  });
});
