import { Decimal } from 'decimal.js';
import { z } from 'zod';
import { nanoPerDollar } from '../money.ts';
import { storedJson } from '../redis/stored-value.ts';
import { units, getUnits, type Unit, type Units, type Usage } from '#shared/core/usage.ts';

const dollars = z.number().nonnegative().max(1_000_000);

/**
 * The name of a model that a price can be set for. It may have slashes and colons, but no spaces. As it stands in the path of a URL, no
 * part between slashes is empty, `.` or `..`. `__proto__` is excluded, because an object cannot have that name.
 */
export const pricedModel = /^(?!__proto__$)(?!(?:.*\/)?\.{0,2}(?:\/|$))[\w.:/@+-]{1,200}$/;

/** The price of a model: US dollars for a million tokens, a picture, a second of sound, a million characters, or a web search. */
export const modelPriceSchema = z.strictObject({
  input: dollars,
  /** Input read from a cache; absent: as other input. */
  cachedInput: dollars.optional(),
  /** Input written to a cache; absent: as other input. */
  cacheWrite: dollars.optional(),
  /** Input written to a cache that keeps it for an hour; absent: as `cacheWrite`. */
  hourCacheWrite: dollars.optional(),
  /** Thinking included. */
  output: dollars,
  /** A picture that is made. */
  image: dollars.optional(),
  /** A second of sound that is transcribed. */
  second: dollars.optional(),
  /** A million characters that are spoken. */
  characters: dollars.optional(),
  /** A web search that the upstream makes. */
  search: dollars.optional(),
  /** Day from which the price is known, as `2026-11-01`. */
  asOf: z.iso.date(),
});

export type ModelPrice = z.infer<typeof modelPriceSchema>;

/** A price as read from the store: fields that this release does not define are dropped. */
export const storedPriceSchema = storedJson(z.object(modelPriceSchema.shape));

/** The same, but the day from which it is known may be missing. */
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

/** A dollar for a million tokens is a thousand nano-dollars for one. */
const nanoPerTokenAndDollar = 1_000;

/** A million dollars. No answer costs more, and sums of such costs stay within Redis's whole numbers. */
const maxNano = 1e15;

/** Returns the cost of an answer in whole nano-dollars: computed exactly and rounded once. Without a price, it is 0. */
export function costOf(usage: Usage, price: TokenPrice | undefined): number {
  if (!price) return 0;
  const {
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    hourCacheWriteTokens: hourTokens = 0,
    completionTokens,
  } = usage;
  const further = costOfUnits(usage, price);
  const { input, cachedInput = input, cacheWrite = input, hourCacheWrite = cacheWrite, output } = price;
  const minuteTokens = cacheWriteTokens - hourTokens;
  const newTokens = Math.max(0, promptTokens - cachedTokens - cacheWriteTokens);
  const micro =
    newTokens * toMicro(input) +
    cachedTokens * toMicro(cachedInput) +
    minuteTokens * toMicro(cacheWrite) +
    hourTokens * toMicro(hourCacheWrite) +
    completionTokens * toMicro(output);
  if (!further && isExact(micro)) return clampNano((micro + 500 - ((micro + 500) % 1_000)) / 1_000);
  return new Decimal(newTokens)
    .times(input)
    .plus(new Decimal(cachedTokens).times(cachedInput))
    .plus(new Decimal(minuteTokens).times(cacheWrite))
    .plus(new Decimal(hourTokens).times(hourCacheWrite))
    .plus(new Decimal(completionTokens).times(output))
    .times(nanoPerTokenAndDollar)
    .plus(further ?? 0)
    .round()
    .clamp(0, maxNano)
    .toNumber();
}

/** Returns the highest cost of a request in whole nano-dollars: no input from a cache, all of it written to one if that is dearer. */
export function computeMaxCost(
  promptTokens: number,
  completionTokens: number,
  price: TokenPrice | undefined,
  used?: Units,
): number {
  if (!price) return 0;
  const { input, cacheWrite = input, hourCacheWrite = cacheWrite, output } = price;
  const dearest = Math.max(input, cacheWrite, hourCacheWrite);
  const micro = promptTokens * toMicro(dearest) + completionTokens * toMicro(output);
  const rest = micro % 1_000;
  const further = costOfUnits({ units: used }, price);
  if (!further && isExact(micro)) return clampNano((micro - rest) / 1_000 + (rest > 0 ? 1 : 0));
  return new Decimal(promptTokens)
    .times(dearest)
    .plus(new Decimal(completionTokens).times(output))
    .times(nanoPerTokenAndDollar)
    .plus(further ?? 0)
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

/** Returns the exact cost of the units in nano-dollars; undefined without units. */
function costOfUnits(usage: Pick<Usage, 'units'>, price: TokenPrice): Decimal | undefined {
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

/** Returns a price in millionths of a dollar; NaN if that is not a whole number. */
function toMicro(price: number): number {
  const micro = Math.round(price * 1e6);
  return micro / 1e6 === price ? micro : Number.NaN;
}

/**
 * Returns whether a sum of tokens times prices, in thousandths of nano-dollars, is exact: a whole number, below 2^53 with room for
 * rounding. Any other sum is computed with decimals, which takes twenty times as long.
 */
function isExact(sum: number): boolean {
  return Number.isInteger(sum) && sum >= 0 && sum < 2 ** 52;
}

function clampNano(nano: number): number {
  return Math.min(nano, maxNano);
}
