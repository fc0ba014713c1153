import type { PriceOf } from '#shared/serving/estimate-amount.ts';

/** The prices of requests of batches: those of live ones, multiplied with a factor. */
export function scaledPrices(priceOf: PriceOf, factor: number): PriceOf {
  if (factor === 1) return priceOf;
  const scaled = (dollars: number): number => Number((dollars * factor).toPrecision(12));
  return (tier, model) => {
    const price = priceOf(tier, model);
    if (!price) return undefined;
    const { input, cachedInput, cacheWrite, output } = price;
    return {
      ...price,
      input: scaled(input),
      cachedInput: cachedInput === undefined ? undefined : scaled(cachedInput),
      cacheWrite: cacheWrite === undefined ? undefined : scaled(cacheWrite),
      output: scaled(output),
    };
  };
}
