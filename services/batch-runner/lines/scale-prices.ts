import type { PriceLookup } from '#shared/serving/estimate-amount.ts';

/** Returns the prices of batch requests: the live prices multiplied by a factor. */
export function scalePrices(priceOf: PriceLookup, factor: number): PriceLookup {
  if (factor === 1) return priceOf;
  const scale = (dollars: number): number => Number((dollars * factor).toPrecision(12));
  const scaleIfDefined = (dollars: number | undefined): number | undefined =>
    dollars === undefined ? undefined : scale(dollars);
  return (tier, model) => {
    const price = priceOf(tier, model);
    if (!price) return undefined;
    const { input, cachedInput, cacheWrite, hourCacheWrite, output, image, second, characters, search } = price;
    return {
      ...price,
      input: scale(input),
      cachedInput: scaleIfDefined(cachedInput),
      cacheWrite: scaleIfDefined(cacheWrite),
      hourCacheWrite: scaleIfDefined(hourCacheWrite),
      output: scale(output),
      image: scaleIfDefined(image),
      second: scaleIfDefined(second),
      characters: scaleIfDefined(characters),
      search: scaleIfDefined(search),
    };
  };
}
