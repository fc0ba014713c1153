import { expect, it } from 'vitest';
import { workerFacts } from '#services/console/live/worker-facts.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

it('an ejected worker is shown with its reason, and as serving once it is back', () => {
  const [sick] = livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'sick' }]).workers;
  if (!sick) throw new Error('the pool is empty');
  sick.health.eject('demo', 'slow', 0);
  expect(workerFacts(sick, 0)).toMatchObject({ state: 'ejected', reason: 'slow' });
  sick.health.recover('demo', 1);
  expect(workerFacts(sick, 1)).toMatchObject({ state: 'serving' });
  expect(workerFacts(sick, 1).reason).toBeUndefined();
});
