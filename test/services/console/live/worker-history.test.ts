import { describe, expect, it, onTestFinished } from 'vitest';
import type { Loss } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { WorkerHistory } from '#services/console/live/worker-history.ts';
import { startParties } from '../../../helpers/broker/broker-parties.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';
import { until } from '../../../helpers/until.ts';

describe('the workers that have gone', () => {
  it('are remembered with the time and the reason, on every ingress that saw them go', async () => {
    const { ingress, addIngress, addWorker, forkWorker, close } = await startParties();
    onTestFinished(close);
    const other = await addIngress();
    const [history, otherHistory] = [new WorkerHistory(ingress.workers), new WorkerHistory(other.workers)];
    const drained = await addWorker({ id: 'drained' });
    const abrupt = await addWorker({ id: 'abrupt' });
    const stopped = await forkWorker({ WORKER_ID: 'same' });
    const killed = await forkWorker({ WORKER_ID: 'killed' });
    await until(() => other.workers.size === 4);
    expect(history.list()).toEqual([]);
    const begin = Date.now();
    await drained.worker.drain(1_000);
    await drained.worker.close();
    await abrupt.worker.close();
    // A process that stands still keeps its connection, and another one with its name takes its place.
    stopped.process.child.kill('SIGSTOP');
    await addWorker({ id: 'same' });
    await killed.process.kill();
    await until(() => history.list().length === 4 && otherHistory.list().length === 4);
    const gone = history.list();
    const whyOf = (list: typeof gone) =>
      Object.fromEntries(list.map(({ id, why, isBack }) => [id, isBack ? `${why}, is back` : why]));
    for (const list of [gone, otherHistory.list()])
      expect(whyOf(list)).toEqual({ drained: 'drained', abrupt: 'left', same: 'restarted, is back', killed: 'lost' });
    expect(gone[0]).toMatchObject({ id: 'killed', tier: 'gpu', serves: ['demo'], servedNames: 1, jobs: 0 });
    for (const { goneAt, joinedAt } of gone) {
      expect(goneAt).toBeGreaterThanOrEqual(begin);
      expect(joinedAt).toBeLessThanOrEqual(goneAt);
    }
  });

  it('are remembered for a day, at most 1,000, and at most the last five times of each', () => {
    const listeners: ((worker: LiveWorker, loss: Loss) => void)[] = [];
    const history = new WorkerHistory({ get: () => undefined, onLost: (listener) => void listeners.push(listener) });
    const lose = (id: string): void => {
      const [worker] = livePool({ tier: 'gpu', pool: 'p' }, [{ id }]).workers;
      if (worker) for (const listener of listeners) listener(worker, 'silent');
    };
    lose('steady');
    for (let time = 0; time < 50; time += 1) lose('restless');
    expect(history.list().map(({ id }) => id)).toEqual([...Array<string>(5).fill('restless'), 'steady']);
    for (let number = 0; number < 1_500; number += 1) lose(`w${number}`);
    const list = history.list();
    expect([list.length, list[0]?.id, list.at(-1)?.id]).toEqual([1_000, 'w1499', 'w500']);
    expect(history.list(Date.now() + 86_400_001)).toEqual([]);
  });
});
