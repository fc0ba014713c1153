import { expect, it } from 'vitest';
import { findLastWorkers } from '#services/console/live/last-workers.ts';
import { listWorkerFacts, toWorkerFacts } from '#services/console/live/worker-facts.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

const model = (id: string) => ({ id, capabilities: [] });

function aWorker(busy = 0) {
  const [worker] = livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'sick', busy }]).workers;
  if (!worker) throw new Error('the pool is empty');
  return worker;
}

it('an ejected worker is shown with its reason and, once it serves again, with the time of its ejection', () => {
  const sick = aWorker();
  expect(toWorkerFacts(sick, 0).ejection).toBeUndefined();
  sick.health.eject('demo', 'slow', 0);
  const { ejection, ...facts } = toWorkerFacts(sick, 0);
  expect(facts).toMatchObject({ state: 'ejected', reason: 'slow' });
  expect(ejection).toEqual({ model: 'demo', reason: 'slow', at: Math.round(performance.timeOrigin) });
  sick.health.recover('demo', 1_000);
  const back = { endedAt: Math.round(performance.timeOrigin + 1_000) };
  expect(toWorkerFacts(sick, 1_000)).toMatchObject({ state: 'serving', ejection: back });
  expect(toWorkerFacts(sick, 1_000).reason).toBeUndefined();
});

it('a drained worker is safe to stop once it has no job left', () => {
  const worker = aWorker(1);
  expect(toWorkerFacts(worker, 0).safeToStop).toBeUndefined();
  worker.update({ ...worker.announcement, draining: true }, worker.announcementBytes, worker.pool);
  expect(toWorkerFacts(worker, 0)).toMatchObject({ state: 'draining', busy: 1 });
  expect(toWorkerFacts(worker, 0).safeToStop).toBeUndefined();
  worker.recordHeartbeat(0);
  expect(toWorkerFacts(worker, 0)).toMatchObject({ state: 'draining', busy: 0, safeToStop: true });
});

it('a worker is the last one for a model or tool for which no other worker takes requests, in whatever pool', () => {
  const [demo, rare, plain] = [model('demo'), model('rare'), model('plain')];
  const facts = [{ id: 'one' }, { id: 'two', accepting: false }];
  const first = livePool({ tier: 'gpu', pool: 'a', models: [demo, rare, plain] }, facts);
  const second = livePool({ tier: 'cloud', pool: 'b', models: [demo, plain] }, [{ id: 'three' }]);
  const add = { name: 'add', description: '', inputSchema: {} };
  const tools = livePool({ tier: 'tools', pool: 't', tools: [add] }, [{ id: 'four' }]);
  const pools = [first, second, tools];
  expect(Object.fromEntries(findLastWorkers(pools))).toEqual({ one: ['rare'], four: ['add'] });
  const [three] = second.workers;
  three?.health.eject('demo', 'slow', 0);
  expect(Object.fromEntries(findLastWorkers(pools))).toEqual({ one: ['demo', 'rare'], four: ['add'] });
  const workers = pools.flatMap((pool) => [...pool.workers]);
  const lastFor = Object.fromEntries(listWorkerFacts(workers, pools, 0).map((each) => [each.id, each.lastFor]));
  expect(lastFor).toEqual({ one: ['demo', 'rare'], two: undefined, three: undefined, four: ['add'] });
});
