import { describe, expect, it, onTestFinished } from 'vitest';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { until } from '../../../helpers/until.ts';

async function start() {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  const { ingress, addWorker } = parties;
  const command = (worker: string, payload: string) =>
    ingress.broker.publish(ingress.broker.subjects.drain({ tier: 'gpu', owner: 'open', worker }), payload);
  const isDraining = (id: string) => ingress.workers.get(id)?.announcement.draining === true;
  return { ingress, addWorker, command, isDraining };
}

describe('a worker that an operator drains', () => {
  it('says so, finishes what it runs, takes nothing new, and accepts again when it is undrained', async () => {
    const { ingress, addWorker, command, isDraining } = await start();
    const gate = Promise.withResolvers<void>();
    const handler = async () => {
      await gate.promise;
      return {
        usage: { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 },
        finishReason: 'stop',
      };
    };
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

  it('leaves new jobs to the others of its pool', async () => {
    const { ingress, addWorker, command, isDraining } = await start();
    const [one, two] = [await addWorker(), await addWorker()];
    command(one.id, 'drain');
    await until(() => isDraining(one.id));
    const reports = await Promise.all(Array.from({ length: 20 }, () => ingress.send({}).finished));
    expect(new Set(reports.map(({ attempt }) => attempt?.worker.announcement.worker))).toEqual(new Set([two.id]));
  });

  it('passes over what it does not understand', async () => {
    const { ingress, addWorker, command } = await start();
    const { id } = await addWorker();
    command(id, 'explode');
    expect((await ingress.send({}).finished).state).toBe('done');
  });

  it('announces which machine it runs on', async () => {
    const { ingress, addWorker } = await start();
    const { id } = await addWorker();
    expect(ingress.workers.get(id)?.announcement.host).toMatch(/./);
  });
});
