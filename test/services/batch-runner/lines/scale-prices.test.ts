import { expect, it } from 'vitest';
import { scalePrices } from '#services/batch-runner/lines/scale-prices.ts';
import { computeCost } from '#shared/accounts/prices/model-price.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { PriceLookup } from '#shared/serving/estimate-amount.ts';

const priceOf: PriceLookup = (_tier, model) =>
  model === 'priced' ? { input: 0.15, cachedInput: 0.075, output: 0.6, asOf: '2026-11-01' } : undefined;

it('prices of batches are those of live requests times a factor, for each kind of tokens', () => {
  const half = { input: 0.075, cachedInput: 0.0375, output: 0.3, asOf: '2026-11-01' };
  expect(scalePrices(priceOf, 0.5)('cloud', 'priced')).toEqual(half);
  const usage = { ...noUsage, promptTokens: 1_000_000, completionTokens: 1_000_000 };
  expect(computeCost(usage, scalePrices(priceOf, 0.1)('cloud', 'priced'))).toBe(75_000_000);
});

it('prices of batches are scaled for pictures and other units, too', () => {
  const drawn = scalePrices(() => ({ input: 0, output: 0, image: 0.04, second: 0.0001, characters: 15 }), 0.5);
  expect(drawn('cloud', 'painter')).toMatchObject({ image: 0.02, second: 0.00005, characters: 7.5 });
  expect(computeCost({ ...noUsage, units: { images: 2 } }, drawn('cloud', 'painter'))).toBe(40_000_000);
});

it('prices of batches are zero with the factor 0, and stay unknown where they were', () => {
  expect(computeCost({ ...noUsage, promptTokens: 1e6 }, scalePrices(priceOf, 0)('cloud', 'priced'))).toBe(0);
  expect(scalePrices(priceOf, 0.5)('gpu', 'free')).toBeUndefined();
});
