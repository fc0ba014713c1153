import { Decimal } from 'decimal.js';

/** Nano-dollars in a US dollar. Costs are whole numbers of nano-dollars, so that sums stay exact, up to nine million dollars. */
export const nanoPerDollar = 1_000_000_000;

const maxExactNano = 4e6 * nanoPerDollar;

/** Rounds dollars to nano-dollars, to at most `Number.MAX_SAFE_INTEGER`. */
export function toNanoDollars(dollars: number): number {
  const rounded = Math.round(dollars * nanoPerDollar);
  // Up to four million dollars, no two numbers of nano-dollars convert to the same number of dollars, so no other number can match.
  if (rounded <= maxExactNano && rounded / nanoPerDollar === dollars) return rounded;
  const nano = new Decimal(dollars).times(nanoPerDollar).round();
  return Math.min(nano.toNumber(), Number.MAX_SAFE_INTEGER);
}

/** Converts nano-dollars to dollars, exactly up to four million dollars. */
export function toDollars(nano: number): number {
  return new Decimal(nano).dividedBy(nanoPerDollar).toNumber();
}
