import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { nanoPerDollar } from '../money.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import { units, getUnits, type Unit, type Units, type Usage } from '#shared/core/usage.ts';

const dollars = z.number().nonnegative().max(1_000_000);

/**
 * The name of a model for which a price can be set. It may have slashes and colons, but no spaces. Because it is used in the path of a URL,
 * no part between slashes may be empty, `.` or `..`. `__proto__` is excluded, because an object cannot have a field of that name.
 */
export const modelNamePattern = /^(?!__proto__$)(?!(?:.*\/)?\.{0,2}(?:\/|$))[\w.:/@+-]{1,200}$/;

/** The price of a model: US dollars for a million tokens, a picture, a second of sound, a million characters, or a web search. */
export const modelPriceSchema = z.strictObject({
  input: dollars.describe('Dollars for a million tokens of input.'),
  cachedInput: dollars
    .optional()
    .describe('Price of input that is read from a cache. Absent: the price of other input.'),
  cacheWrite: dollars
    .optional()
    .describe('Price of input that is written to a cache. Absent: the price of other input.'),
  hourCacheWrite: dollars
    .optional()
    .describe('Price of input that is written to a cache which keeps it for an hour. Absent: the same as cacheWrite.'),
  output: dollars.describe('Price of output, including thinking.'),
  image: dollars.optional().describe('Price of a picture that is made.'),
  second: dollars.optional().describe('Price of a second of sound that is transcribed.'),
  characters: dollars.optional().describe('Price of a million characters that are spoken.'),
  search: dollars.optional().describe('Price of a web search that the upstream makes.'),
  asOf: z.iso.date().describe('The day on which the price was valid, such as 2026-11-01.'),
});

export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** Parses a price from the store. Drops fields that this release does not define. */
export const storedPriceSchema = createStoredSchema(z.object(modelPriceSchema.shape));

/** The price of a model, with or without the day on which it was valid. */
export interface TokenPrice {
  input: number;
  cachedInput?: number | undefined;
  cacheWrite?: number | undefined;
  hourCacheWrite?: number | undefined;
  output: number;
  image?: number | undefined;
  second?: number | undefined;
  characters?: number | undefined;
  search?: number | undefined;
  asOf?: string | undefined;
}

/** Nano-dollars for one token at a price of one dollar for a million tokens. */
const nanoPerTokenAndDollar = 1_000;

/** A million dollars. No answer costs more, and sums of such costs stay within the whole numbers of Redis. */
const maxNano = 1e15;

/** Returns the cost of an answer in whole nano-dollars, computed exactly and rounded once. Without a price, the cost is 0. */
export function computeCost(usage: Usage, price: TokenPrice | undefined): number {
  if (!price) return 0;
  const {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    hourCacheWriteTokens: hourCacheTokens = 0,
    completionTokens,
  } = usage;
  const unitCost = computeUnitCost(usage, price);
  const { input, cachedInput = input, cacheWrite = input, hourCacheWrite = cacheWrite, output } = price;
  const shortCacheTokens = cacheWriteTokens - hourCacheTokens;
  const newTokens = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens);
  const nanoThousandths =
    newTokens * toMicroDollars(input) +
    cachedTokens * toMicroDollars(cachedInput) +
    shortCacheTokens * toMicroDollars(cacheWrite) +
    hourCacheTokens * toMicroDollars(hourCacheWrite) +
    completionTokens * toMicroDollars(output);
  if (!unitCost && isExact(nanoThousandths))
    return clampNano((nanoThousandths + 500 - ((nanoThousandths + 500) % 1_000)) / 1_000);
  return new Decimal(newTokens)
    .times(input)
    .plus(new Decimal(cachedTokens).times(cachedInput))
    .plus(new Decimal(shortCacheTokens).times(cacheWrite))
    .plus(new Decimal(hourCacheTokens).times(hourCacheWrite))
    .plus(new Decimal(completionTokens).times(output))
    .times(nanoPerTokenAndDollar)
    .plus(unitCost ?? 0)
    .round()
    .clamp(0, maxNano)
    .toNumber();
}

/**
 * Returns the highest possible cost of a request in whole nano-dollars: no input is read from a cache, and all input is written to a cache
 * if that costs more.
 */
export function computeMaxCost(
  promptTokens: number,
  completionTokens: number,
  price: TokenPrice | undefined,
  expectedUnits?: Units,
): number {
  if (!price) return 0;
  const { input, cacheWrite = input, hourCacheWrite = cacheWrite, output } = price;
  const maxInputPrice = Math.max(input, cacheWrite, hourCacheWrite);
  const nanoThousandths = promptTokens * toMicroDollars(maxInputPrice) + completionTokens * toMicroDollars(output);
  const remainder = nanoThousandths % 1_000;
  const unitCost = computeUnitCost({ units: expectedUnits }, price);
  if (!unitCost && isExact(nanoThousandths))
    return clampNano((nanoThousandths - remainder) / 1_000 + (remainder > 0 ? 1 : 0));
  return new Decimal(promptTokens)
    .times(maxInputPrice)
    .plus(new Decimal(completionTokens).times(output))
    .times(nanoPerTokenAndDollar)
    .plus(unitCost ?? 0)
    .ceil()
    .clamp(0, maxNano)
    .toNumber();
}

const unitPrices: Record<Unit, { field: 'image' | 'second' | 'characters' | 'search'; per: number }> = {
  images: { field: 'image', per: 1 },
  seconds: { field: 'second', per: 1 },
  characters: { field: 'characters', per: 1_000_000 },
  searches: { field: 'search', per: 1 },
};

/** Returns the exact cost of the units in nano-dollars; undefined if the usage has no units. */
function computeUnitCost(usage: Pick<Usage, 'units'>, price: TokenPrice): Decimal | undefined {
  if (!usage.units) return undefined;
  let cost = new Decimal(0);
  for (const unit of units) {
    const { field, per } = unitPrices[unit];
    cost = cost.plus(
      new Decimal(getUnits(usage, unit))
        .times(price[field] ?? 0)
        .times(nanoPerDollar)
        .div(per),
    );
  }
  return cost;
}

/** Returns a price in millionths of a dollar; NaN if the price is no whole number of millionths. */
function toMicroDollars(price: number): number {
  const micro = Math.round(price * 1e6);
  return micro / 1e6 === price ? micro : Number.NaN;
}

/**
 * Returns whether a sum of tokens times prices, in thousandths of a nano-dollar, is exact: a whole number, small enough that rounding it
 * stays below 2^53. Any other sum is computed with decimals, which takes twenty times as long.
 */
function isExact(sum: number): boolean {
  return Number.isInteger(sum) && sum >= 0 && sum < 2 ** 52;
}

function clampNano(nano: number): number {
  return Math.min(nano, maxNano);
}
