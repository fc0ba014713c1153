import { Decimal } from 'decimal.js';

/** Numbers of 40 significant digits. `evaluate` limits their range. */
export const PreciseDecimal = Decimal.clone({ defaults: true, precision: 40 });

/**
 * Largest angle. A larger angle has no meaning at this precision. The library does not have enough digits of π for a larger angle: it would
 * throw an error in the middle of a calculation, which leaves the library's settings wrong.
 */
const maxAngle = new PreciseDecimal('1e30');

/** Largest argument of a factorial, which limits the digits of a result. */
const maxFactorial = 400;

export const constants: Record<string, Decimal> = {
  pi: PreciseDecimal.acos(-1),
  π: PreciseDecimal.acos(-1),
  tau: PreciseDecimal.acos(-1).times(2),
  e: PreciseDecimal.exp(1),
};

/** Functions by name, each with its minimum and maximum number of arguments. Angles are in radians. */
export const functions: Record<string, { from: number; to: number; call: (...values: Decimal[]) => Decimal }> = {
  abs: withOneArgument((x) => x.abs()),
  sign: withOneArgument((x) => new PreciseDecimal(Decimal.sign(x))),
  floor: withOneArgument((x) => x.floor()),
  ceil: withOneArgument((x) => x.ceil()),
  trunc: withOneArgument((x) => x.trunc()),
  round: {
    from: 1,
    to: 2,
    call: (x, places = new PreciseDecimal(0)) => x.toDecimalPlaces(toWholeNumber(places, 0, 40), Decimal.ROUND_HALF_UP),
  },
  sqrt: withOneArgument((x) => x.sqrt()),
  '√': withOneArgument((x) => x.sqrt()),
  cbrt: withOneArgument((x) => x.cbrt()),
  exp: withOneArgument((x) => x.exp()),
  ln: withOneArgument((x) => x.ln()),
  log: { from: 1, to: 2, call: (x, base = new PreciseDecimal(10)) => x.log(base) },
  log10: withOneArgument((x) => x.log(10)),
  log2: withOneArgument((x) => x.log(2)),
  sin: withOneArgument((x) => assertAngle(x).sin()),
  cos: withOneArgument((x) => assertAngle(x).cos()),
  tan: withOneArgument((x) => assertAngle(x).tan()),
  asin: withOneArgument((x) => x.asin()),
  acos: withOneArgument((x) => x.acos()),
  atan: withOneArgument((x) => x.atan()),
  atan2: { from: 2, to: 2, call: (y = nan, x = nan) => PreciseDecimal.atan2(y, x) },
  hypot: { from: 1, to: 100, call: (...values) => PreciseDecimal.hypot(...values) },
  min: { from: 1, to: 100, call: (...values) => PreciseDecimal.min(...values) },
  max: { from: 1, to: 100, call: (...values) => PreciseDecimal.max(...values) },
  sum: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values) },
  mean: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values).div(values.length) },
  mod: { from: 2, to: 2, call: (x = nan, y = nan) => x.minus(y.times(x.div(y).floor())) },
  factorial: withOneArgument(factorial),
};

const nan = new PreciseDecimal(NaN);

/** @throws Error if `x` is not whole, is negative, or is larger than `maxFactorial` */
export function factorial(x: Decimal): Decimal {
  let product = new PreciseDecimal(1);
  for (let factor = toWholeNumber(x, 0, maxFactorial); factor > 1; factor -= 1) product = product.times(factor);
  return product;
}

function assertAngle(x: Decimal): Decimal {
  if (x.abs().gt(maxAngle)) throw new Error(`an angle of at most ${maxAngle.toString()} is needed here`);
  return x;
}

function withOneArgument(call: (x: Decimal) => Decimal): { from: 1; to: 1; call: (...values: Decimal[]) => Decimal } {
  return { from: 1, to: 1, call: (x = nan) => call(x) };
}

function toWholeNumber(x: Decimal, min: number, max: number): number {
  if (!x.isInteger() || x.lt(min) || x.gt(max)) throw new Error(`a whole number from ${min} to ${max} is needed here`);
  return x.toNumber();
}
