import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { computeCost, computeMaxCost, modelNamePattern } from '#shared/accounts/prices/model-price.ts';
import { toDollars, toNanoDollars } from '#shared/accounts/money.ts';
import { noUsage } from '#shared/core/usage.ts';

const price = { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 };

/** Returns the cost in nano-dollars of numbers of tokens at these prices for a million. */
const exactCost = (parts: readonly [price: number, count: number][]): Decimal =>
  Decimal.sum(...parts.map(([each, count]) => new Decimal(each).times(count))).times(1_000);

it('the cost of an answer counts what the cache keeps for an hour at its own price, or without one as other written input', () => {
  const usage = { ...noUsage, promptTokens: 500, cacheWriteTokens: 400, hourCacheWriteTokens: 300 };
  expect(computeCost(usage, { ...price, hourCacheWrite: 6 })).toBe(100 * 3_000 + 100 * 3_750 + 300 * 6_000);
  expect(computeCost(usage, price)).toBe(100 * 3_000 + 400 * 3_750);
  expect(computeCost(usage, { input: 3, output: 15 })).toBe(500 * 3_000);
  expect(computeMaxCost(500, 0, { ...price, hourCacheWrite: 6 })).toBe(500 * 6_000);
});

it('the cost of an answer counts cached input as other input if it has no price, and is 0 without any price', () => {
  const usage = { ...noUsage, promptTokens: 10, cachedTokens: 4, cacheWriteTokens: 2 };
  expect(computeCost(usage, { input: 2, output: 1 })).toBe(20_000);
  expect(computeCost(usage, undefined)).toBe(0);
});

it('the cost of an answer is the whole nano-dollars of the exact cost, for any counts and prices, and never more than was reserved', () => {
  const dollars = fc.integer({ min: 0, max: 1_000_000_000 }).map((millionths) => millionths / 1e6);
  const cachePrices = { cachedInput: dollars, cacheWrite: dollars, hourCacheWrite: dollars };
  const count = fc.nat(10_000_000);
  fc.assert(
    fc.property(
      fc.record({ ...cachePrices, input: dollars, output: dollars }),
      fc.tuple(count, count, count, count, count),
      (prices, [fresh, cachedTokens, minuteTokens, hourCacheWriteTokens, completionTokens]) => {
        const cacheWriteTokens = minuteTokens + hourCacheWriteTokens;
        const promptTokens = fresh + cachedTokens + cacheWriteTokens;
        const written = { cacheWriteTokens, hourCacheWriteTokens };
        const usage = { ...noUsage, promptTokens, cachedTokens, ...written, completionTokens };
        const exact = exactCost([
          [prices.input, fresh],
          [prices.cachedInput, cachedTokens],
          [prices.cacheWrite, minuteTokens],
          [prices.hourCacheWrite, hourCacheWriteTokens],
          [prices.output, completionTokens],
        ]);
        const cost = computeCost(usage, prices);
        fc.pre(cost < 1e15);
        expect(Number.isInteger(cost)).toBe(true);
        expect(exact.minus(cost).abs().lte(0.5)).toBe(true);
        if (prices.cachedInput <= Math.max(prices.input, prices.cacheWrite, prices.hourCacheWrite))
          expect(cost).toBeLessThanOrEqual(computeMaxCost(promptTokens, completionTokens, prices));
      },
    ),
  );
});

it('the cost of an answer is rounded like decimals, for usual amounts and for prices of any number of digits', () => {
  const dollars = fc.tuple(fc.nat(100_000_000), fc.nat(9)).map(([digits, places]) => Number(`${digits}e-${places}`));
  const count = fc.nat(200_000);
  fc.assert(
    fc.property(dollars, dollars, count, count, (input, output, promptTokens, completionTokens) => {
      const exact = exactCost([
        [input, promptTokens],
        [output, completionTokens],
      ]);
      fc.pre(exact.lt(1e15));
      const usage = { ...noUsage, promptTokens, completionTokens };
      expect(computeCost(usage, { input, output })).toBe(exact.round().toNumber());
      expect(computeMaxCost(promptTokens, completionTokens, { input, output })).toBe(exact.ceil().toNumber());
    }),
    { numRuns: 2_000 },
  );
});

it('the cost of an answer goes from dollars to nano-dollars and back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e15 }), (nano) => {
      expect(toNanoDollars(toDollars(nano))).toBe(nano);
    }),
  );
  expect([0.1, 1e-10, 2.5e-9, 9_007_199].map(toNanoDollars)).toEqual([100_000_000, 0, 3, 9_007_199e9]);
});

const unitPrice = { input: 0, output: 0, image: 0.04, second: 0.0001, characters: 15, search: 0.01 };

it('the cost of what is not a token counts pictures, seconds, characters and web searches at their own prices, beside tokens', () => {
  const asked = [{ images: 3 }, { seconds: 90 }, { characters: 200 }, { searches: 3 }];
  const costs = asked.map((units) => computeCost({ ...noUsage, units }, unitPrice));
  expect(costs).toEqual([0.12 * 1e9, 0.009 * 1e9, 0.003 * 1e9, 0.03 * 1e9]);
  expect(computeCost({ ...noUsage, promptTokens: 10, units: { images: 1 } }, { ...unitPrice, input: 5 })).toBe(
    40_050_000,
  );
});

it('the cost of what is not a token is 0 for a unit without a price, rounded once, and part of the highest cost that is reserved', () => {
  expect(computeCost({ ...noUsage, units: { images: 3 } }, price)).toBe(0);
  const third = { input: 0, output: 0, characters: 0.000_4 };
  expect(computeCost({ ...noUsage, units: { characters: 1 } }, third)).toBe(0);
  expect(computeMaxCost(0, 0, third, { characters: 1 })).toBe(1);
  expect(computeMaxCost(100, 0, { ...unitPrice, input: 1 }, { images: 2 })).toBe(80_100_000);
});

it('belongs to a model whose name can stand in a path', () => {
  for (const name of ['m', 'lab/model', 'lab/model:free', '...', 'v1..2', 'a/.b', '@cf/meta/x', '__proto__x'])
    expect([name, modelNamePattern.test(name)]).toEqual([name, true]);
  for (const name of ['', '.', '..', '/', 'a/', '/a', 'a//b', 'a/../b', '../a', 'a/..', './a', '__proto__', 'a b'])
    expect([name, modelNamePattern.test(name)]).toEqual([name, false]);
});
