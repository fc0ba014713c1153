import type { Decimal } from 'decimal.js';
import { constants, factorial, functions, PreciseDecimal } from './functions.ts';
import { tokenize, type Token } from './tokenize.ts';

/**
 * Maximum power of ten of a value, which limits the cost of an operation. The library's own limits stay wide, because its intermediate
 * values are larger than its results. With narrow limits, some series of the library would not end.
 */
const maxExponent = 1000;

/** Maximum levels of nesting, which limits the depth of the stack. */
const maxDepth = 100;

/**
 * Calculates an expression with 40 significant digits. The grammar has only numbers, operators, and the constants and functions of
 * `functions.ts`.
 *
 * ```
 * sum    = term { ("+" | "-") term }
 * term   = signed { ("*" | "/" | "%") signed }
 * signed = { "+" | "-" } power
 * power  = value { "!" } [ "^" signed ]
 * value  = number | constant | function "(" sum { "," sum } ")" | "(" sum ")"
 * ```
 * @throws Error whose message is the reason, as a part of a sentence
 */
export function evaluate(expression: string): Decimal {
  const tokens = tokenize(expression);
  let nextIndex = 0;
  let depth = 0;

  const result = readSum();
  if (peek().kind !== 'end') throw createUnexpectedError();
  return result;

  function readSum(): Decimal {
    if ((depth += 1) > maxDepth) throw new Error(`the expression is nested deeper than ${maxDepth} levels`);
    let value = readTerm();
    for (let sign = takeSign('+', '-'); sign; sign = takeSign('+', '-')) {
      value = limitRange(sign === '+' ? value.plus(readTerm()) : value.minus(readTerm()));
    }
    depth -= 1;
    return value;
  }

  function readTerm(): Decimal {
    let value = readSigned();
    for (let sign = takeSign('*', '/', '%'); sign; sign = takeSign('*', '/', '%')) {
      const right = readSigned();
      if (sign !== '*' && right.isZero()) throw new Error('division by zero');
      value = limitRange(sign === '*' ? value.times(right) : sign === '/' ? value.div(right) : value.mod(right));
    }
    return value;
  }

  function readSigned(): Decimal {
    let isNegative = false;
    for (let sign = takeSign('+', '-'); sign; sign = takeSign('+', '-')) isNegative = isNegative !== (sign === '-');
    const value = readPower();
    return isNegative ? value.neg() : value;
  }

  /** Reads a power, which is right-associative and binds tighter than a sign before it: -2^2 is -4, and 2^3^2 is 2^9. */
  function readPower(): Decimal {
    let value = readValue();
    while (takeSign('!')) value = limitRange(factorial(value));
    if (!takeSign('^')) return value;
    if ((depth += 1) > maxDepth) throw new Error(`the expression is nested deeper than ${maxDepth} levels`);
    value = limitRange(value.pow(readSigned()));
    depth -= 1;
    return value;
  }

  function readValue(): Decimal {
    const token = peek();
    nextIndex += 1;
    if (token.kind === 'number') return limitRange(new PreciseDecimal(token.text));
    if (token.kind === 'name') return takeSign('(') ? readCall(token.text) : findConstant(token.text);
    if (token.kind === 'sign' && token.text === '(') {
      const value = readSum();
      readClosing();
      return value;
    }
    nextIndex -= 1;
    throw createUnexpectedError();
  }

  function readCall(name: string): Decimal {
    const calculatorFunction = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!calculatorFunction) throw new Error(`there is no function '${name}'`);
    const values = [readSum()];
    while (takeSign(',')) values.push(readSum());
    readClosing();
    const { from, to } = calculatorFunction;
    if (values.length < from || values.length > to) {
      throw new Error(`${name} takes ${from === to ? from : `${from} to ${to}`} values, not ${values.length}`);
    }
    return limitRange(calculatorFunction.call(...values));
  }

  function findConstant(name: string): Decimal {
    const value = Object.hasOwn(constants, name) ? constants[name] : undefined;
    if (!value) throw new Error(`there is no number named '${name}'`);
    return value;
  }

  function readClosing(): void {
    if (!takeSign(')')) throw createUnexpectedError();
  }

  function peek(): Token {
    return tokens[nextIndex] ?? { kind: 'end', at: expression.length + 1 };
  }

  function takeSign(...signs: string[]): string | undefined {
    const token = peek();
    if (token.kind !== 'sign' || !signs.includes(token.text)) return undefined;
    nextIndex += 1;
    return token.text;
  }

  function createUnexpectedError(): Error {
    const token = peek();
    if (token.kind === 'end') return new Error('the expression ends too early');
    return new Error(`'${token.text}' at character ${token.at} was not expected there`);
  }
}

function limitRange(value: Decimal): Decimal {
  if (value.isNaN()) throw new Error('the result is not a real number');
  if (!value.isFinite() || value.e > maxExponent) throw new Error('the result is too large');
  return value.e < -maxExponent ? new PreciseDecimal(0) : value;
}
