import { expect, it } from 'vitest';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { livePool } from '../../../helpers/broker/live-pool.ts';

it('the budget of hedges is one for every twenty requests of a name, and at most ten are saved up', () => {
  const hedges = new Hedges();
  const spent = (): number => {
    let count = 0;
    while (hedges.spend('fast')) count += 1;
    return count;
  };
  expect(spent()).toBe(0);
  for (let request = 0; request < 101; request += 1) hedges.earn('fast');
  expect(hedges.spend('other')).toBe(false);
  expect(spent()).toBe(5);
  for (let request = 0; request < 10_000; request += 1) hedges.earn('fast');
  expect(spent()).toBe(10);
});

it('a first token is late after the time of 95 of 100 recent ones of the same pool and model', () => {
  const hedges = new Hedges();
  const placement = { pool: livePool({ tier: 'gpu', pool: 'p' }, [{ id: 'w' }]), model: 'm' };
  for (let ms = 1; ms <= 19; ms += 1) hedges.countFirstToken(placement, ms);
  expect(hedges.findLateMs(placement)).toBeUndefined();
  for (let ms = 20; ms <= 100; ms += 1) hedges.countFirstToken(placement, ms);
  expect(hedges.findLateMs(placement)).toBe(95);
  expect(hedges.findLateMs({ ...placement, model: 'other' })).toBeUndefined();
  for (let count = 0; count < 128; count += 1) hedges.countFirstToken(placement, 7);
  expect(hedges.findLateMs(placement)).toBe(7);
});
