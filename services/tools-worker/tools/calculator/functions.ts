import { Decimal } from 'decimal.js';

/** Numbers of 40 significant digits. `evaluate` limits their range. */
export const PreciseDecimal = Decimal.clone({ defaults: true, precision: 40 });

/**
 * Largest angle. A larger angle has no meaning at this precision. The library has too few digits of π for a larger angle: it would throw an
 * error in the middle of a calculation, and its settings would stay wrong.
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
  abs: createUnaryFunction((x) => x.abs()),
  sign: createUnaryFunction((x) => new PreciseDecimal(Decimal.sign(x))),
  floor: createUnaryFunction((x) => x.floor()),
  ceil: createUnaryFunction((x) => x.ceil()),
  trunc: createUnaryFunction((x) => x.trunc()),
  round: {
    from: 1,
    to: 2,
    call: (x, places = new PreciseDecimal(0)) => x.toDecimalPlaces(toWholeNumber(places, 0, 40), Decimal.ROUND_HALF_UP),
  },
  sqrt: createUnaryFunction((x) => x.sqrt()),
  '√': createUnaryFunction((x) => x.sqrt()),
  cbrt: createUnaryFunction((x) => x.cbrt()),
  exp: createUnaryFunction((x) => x.exp()),
  ln: createUnaryFunction((x) => x.ln()),
  log: { from: 1, to: 2, call: (x, base = new PreciseDecimal(10)) => x.log(base) },
  log10: createUnaryFunction((x) => x.log(10)),
  log2: createUnaryFunction((x) => x.log(2)),
  sin: createUnaryFunction((x) => assertAngle(x).sin()),
  cos: createUnaryFunction((x) => assertAngle(x).cos()),
  tan: createUnaryFunction((x) => assertAngle(x).tan()),
  asin: createUnaryFunction((x) => x.asin()),
  acos: createUnaryFunction((x) => x.acos()),
  atan: createUnaryFunction((x) => x.atan()),
  atan2: { from: 2, to: 2, call: (y = nan, x = nan) => PreciseDecimal.atan2(y, x) },
  hypot: { from: 1, to: 100, call: (...values) => PreciseDecimal.hypot(...values) },
  min: { from: 1, to: 100, call: (...values) => PreciseDecimal.min(...values) },
  max: { from: 1, to: 100, call: (...values) => PreciseDecimal.max(...values) },
  sum: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values) },
  mean: { from: 1, to: 100, call: (...values) => PreciseDecimal.sum(...values).div(values.length) },
  mod: { from: 2, to: 2, call: (x = nan, y = nan) => x.minus(y.times(x.div(y).floor())) },
  factorial: createUnaryFunction(factorial),
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

function createUnaryFunction(call: (x: Decimal) => Decimal): {
  from: 1;
  to: 1;
  call: (...values: Decimal[]) => Decimal;
} {
  return { from: 1, to: 1, call: (x = nan) => call(x) };
}

function toWholeNumber(x: Decimal, min: number, max: number): number {
  if (!x.isInteger() || x.lt(min) || x.gt(max)) throw new Error(`a whole number from ${min} to ${max} is needed here`);
  return x.toNumber();
}
