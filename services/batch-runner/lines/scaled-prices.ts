import type { PriceLookup } from '#shared/serving/estimate-amount.ts';

/** Returns the prices of batch requests: the live prices multiplied by a factor. */
export function scaledPrices(priceOf: PriceLookup, factor: number): PriceLookup {
  if (factor === 1) return priceOf;
  const scaled = (dollars: number): number => Number((dollars * factor).toPrecision(12));
  const scaledIfAny = (dollars: number | undefined): number | undefined =>
    dollars === undefined ? undefined : scaled(dollars);
  return (tier, model) => {
    const price = priceOf(tier, model);
    if (!price) return undefined;
    const { input, cachedInput, cacheWrite, hourCacheWrite, output, image, second, characters, search } = price;
    return {
      ...price,
      input: scaled(input),
      cachedInput: scaledIfAny(cachedInput),
      cacheWrite: scaledIfAny(cacheWrite),
      hourCacheWrite: scaledIfAny(hourCacheWrite),
      output: scaled(output),
      image: scaledIfAny(image),
      second: scaledIfAny(second),
      characters: scaledIfAny(characters),
      search: scaledIfAny(search),
    };
  };
}
