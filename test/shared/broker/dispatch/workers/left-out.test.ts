import { expect, it } from 'vitest';
import { livePool } from '../../../../helpers/broker/live-pool.ts';

const nobody = new Set<string>();

it('a job that a worker has returned probes no ejected worker while a healthy one can serve it', () => {
  const [sick, first, second] = livePool({ tier: 'gpu', pool: 'p' }, [
    { id: 'sick' },
    { id: 'first' },
    { id: 'second' },
  ]).workers;
  sick?.health.eject('m', 'worker_lost', 0);
  // The first probe is due within 1.25 seconds.
  expect(sick?.isLeftOut('m', 500, nobody)).toBe(true);
  expect(sick?.isLeftOut('m', 2_000, nobody)).toBe(false);
  expect(sick?.isLeftOut('m', 2_000, new Set(['first']))).toBe(true);
  expect(sick?.isLeftOut('m', 2_000, new Set(['first', 'second']))).toBe(false);
  for (const healthy of [first, second]) expect(healthy?.isLeftOut('m', 2_000, new Set(['x']))).toBe(false);
});
