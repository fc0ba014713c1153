import { Decimal } from 'decimal.js';

/** Numbers of 40 significant digits. `evaluate` limits their range. */
export const PreciseDecimal = Decimal.clone({ defaults: true, precision: 40 });

/**
 * Largest angle. A larger one has no meaning at this precision. The library does not have enough digits of π for it. It would throw an
 * error in the middle of a calculation, which leaves its settings wrong.
 */
const maxAngle = new PreciseDecimal('1e30');

/** Largest argument of a factorial. It limits the digits of a result. */
const maxFactorial = 400;

export const constants: Record<string, Decimal> = {
  pi: PreciseDecimal.acos(-1),
  π: PreciseDecimal.acos(-1),
  tau: PreciseDecimal.acos(-1).times(2),
  e: PreciseDecimal.exp(1),
};

/** Functions by name, each with its minimum and maximum number of arguments. Angles are in radians. */
export const functions: Record<string, { from: number; to: number; call: (...values: Decimal[]) => Decimal }> = {
  abs: one((x) => x.abs()),
  sign: one((x) => new PreciseDecimal(Decimal.sign(x))),
  floor: one((x) => x.floor()),
  ceil: one((x) => x.ceil()),
  trunc: one((x) => x.trunc()),
  round: {
    from: 1,
    to: 2,
    call: (x, places = new PreciseDecimal(0)) => x.toDecimalPlaces(wholeWithin(places, 0, 40), Decimal.ROUND_HALF_UP),
  },
  sqrt: one((x) => x.sqrt()),
  '√': one((x) => x.sqrt()),
  cbrt: one((x) => x.cbrt()),
  exp: one((x) => x.exp()),
  ln: one((x) => x.ln()),
  log: { from: 1, to: 2, call: (x, base = new PreciseDecimal(10)) => x.log(base) },
  log10: one((x) => x.log(10)),
  log2: one((x) => x.log(2)),
  sin: one((x) => angle(x).sin()),
  cos: one((x) => angle(x).cos()),
  tan: one((x) => angle(x).tan()),
  asin: one((x) => x.asin()),
  acos: one((x) => x.acos()),
  atan: one((x) => x.atan()),
  atan2: { from: 2, to: 2, call: (y = nan, x = nan) => PreciseDecimal.atan2(y, x) },
  hypot: { from: 1, to: 100, call: (...values) => PreciseDecimal.hypot(...values) },
  min: { from: 1, to: 100, call: (...values) => PreciseDecimal.min(...values) },
  max: { from: 1, to: 100, call: (...values) => PreciseDecimal.max(...values) },
  sum: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values) },
  mean: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values).div(values.length) },
  mod: { from: 2, to: 2, call: (x = nan, y = nan) => x.minus(y.times(x.div(y).floor())) },
  factorial: one(factorial),
};

const nan = new PreciseDecimal(NaN);

/** @throws Error if the number is not whole, or is negative or too large */
export function factorial(x: Decimal): Decimal {
  let product = new PreciseDecimal(1);
  for (let factor = wholeWithin(x, 0, maxFactorial); factor > 1; factor -= 1) product = product.times(factor);
  return product;
}

function angle(x: Decimal): Decimal {
  if (x.abs().gt(maxAngle)) throw new Error(`an angle of at most ${maxAngle.toString()} is needed here`);
  return x;
}

function one(call: (x: Decimal) => Decimal): { from: 1; to: 1; call: (...values: Decimal[]) => Decimal } {
  return { from: 1, to: 1, call: (x = nan) => call(x) };
}

function wholeWithin(x: Decimal, min: number, max: number): number {
  if (!x.isInteger() || x.lt(min) || x.gt(max)) throw new Error(`a whole number from ${min} to ${max} is needed here`);
  return x.toNumber();
}
