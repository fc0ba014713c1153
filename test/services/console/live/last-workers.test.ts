import { expect, it } from 'vitest';
import { lastWorkers } from '#services/console/live/last-workers.ts';
import { allWorkerFacts } from '#services/console/live/worker-facts.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

const [demo, rare, plain] = ['demo', 'rare', 'plain'].map((id) => ({ id, capabilities: [] }));

it('a worker is the last one for what no other takes requests for, in whatever pool', () => {
  if (!demo || !rare || !plain) throw new Error('there are no models');
  const facts = [{ id: 'one' }, { id: 'two', accepting: false }];
  const first = livePool({ tier: 'gpu', pool: 'a', models: [demo, rare, plain] }, facts);
  const second = livePool({ tier: 'cloud', pool: 'b', models: [demo, plain] }, [{ id: 'three' }]);
  const add = { name: 'add', description: '', inputSchema: {} };
  const tools = livePool({ tier: 'tools', pool: 't', tools: [add] }, [{ id: 'four' }]);
  const pools = [first, second, tools];
  expect(Object.fromEntries(lastWorkers(pools))).toEqual({ one: ['rare'], four: ['add'] });
  const [three] = second.workers;
  three?.health.eject('demo', 'slow', 0);
  expect(Object.fromEntries(lastWorkers(pools))).toEqual({ one: ['demo', 'rare'], four: ['add'] });
  const workers = { pools: () => pools, workers: () => pools.flatMap((pool) => [...pool.workers]) };
  expect(allWorkerFacts(workers, 0).map(({ id, lastFor }) => [id, lastFor])).toEqual([
    ['one', ['demo', 'rare']],
    ['two', undefined],
    ['three', undefined],
    ['four', ['add']],
  ]);
});
