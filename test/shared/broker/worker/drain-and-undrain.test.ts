import { describe, expect } from 'vitest';
import type { TestIngress } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { jobDone } from '../../../helpers/broker/job-done.ts';
import { until } from '../../../helpers/until.ts';

function operatorOf({ broker, workers }: TestIngress) {
  return {
    command: (worker: string, payload: string) =>
      broker.publish(broker.subjects.drain({ tier: 'gpu', owner: 'open', worker }), payload),
    isDraining: (id: string) => workers.get(id)?.announcement.draining === true,
  };
}

describe('a worker that an operator drains', () => {
  it('says so, finishes what it runs, takes nothing new, and accepts again when it is undrained', async ({ start }) => {
    const { ingress, addWorker } = await start();
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

  it('passes over what it does not understand, and announces which machine it runs on', async ({ start }) => {
    const { ingress, addWorker } = await start();
    const { id } = await addWorker();
    operatorOf(ingress).command(id, 'explode');
    expect((await ingress.send({}).finished).state).toBe('done');
    expect(ingress.workers.get(id)?.announcement.host).toMatch(/./);
  });
});
