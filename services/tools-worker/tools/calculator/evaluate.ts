import type { Decimal } from 'decimal.js';
import { constants, factorial, functions, PreciseDecimal } from './functions.ts';
import { tokenize, type Token } from './tokenize.ts';

/**
 * Maximum power of ten of a value. It limits the cost of an operation. The library's own limits stay wide, because its intermediate values
 * are larger than its results. With narrow limits, some of its series would not end.
 */
const maxExponent = 1000;

/** Maximum levels of nesting. It limits the depth of the stack. */
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
  let next = 0;
  let depth = 0;

  const result = sum();
  if (peek().kind !== 'end') throw unexpected();
  return result;

  function sum(): Decimal {
    if ((depth += 1) > maxDepth) throw new Error(`the expression is nested deeper than ${maxDepth} levels`);
    let value = term();
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) {
      value = finite(sign === '+' ? value.plus(term()) : value.minus(term()));
    }
    depth -= 1;
    return value;
  }

  function term(): Decimal {
    let value = signed();
    for (let sign = take('*', '/', '%'); sign; sign = take('*', '/', '%')) {
      const right = signed();
      if (sign !== '*' && right.isZero()) throw new Error('division by zero');
      value = finite(sign === '*' ? value.times(right) : sign === '/' ? value.div(right) : value.mod(right));
    }
    return value;
  }

  function signed(): Decimal {
    let negative = false;
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) negative = negative !== (sign === '-');
    const value = power();
    return negative ? value.neg() : value;
  }

  /** Reads a power, which is right-associative and binds tighter than a sign before it: -2^2 is -4, and 2^3^2 is 2^9. */
  function power(): Decimal {
    let value = primary();
    while (take('!')) value = finite(factorial(value));
    if (!take('^')) return value;
    if ((depth += 1) > maxDepth) throw new Error(`the expression is nested deeper than ${maxDepth} levels`);
    value = finite(value.pow(signed()));
    depth -= 1;
    return value;
  }

  function primary(): Decimal {
    const token = peek();
    next += 1;
    if (token.kind === 'number') return finite(new PreciseDecimal(token.text));
    if (token.kind === 'name') return take('(') ? call(token.text) : constant(token.text);
    if (token.kind === 'sign' && token.text === '(') {
      const value = sum();
      close();
      return value;
    }
    next -= 1;
    throw unexpected();
  }

  function call(name: string): Decimal {
    const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!known) throw new Error(`there is no function '${name}'`);
    const values = [sum()];
    while (take(',')) values.push(sum());
    close();
    const { from, to } = known;
    if (values.length < from || values.length > to) {
      throw new Error(`${name} takes ${from === to ? from : `${from} to ${to}`} values, not ${values.length}`);
    }
    return finite(known.call(...values));
  }

  function constant(name: string): Decimal {
    const known = Object.hasOwn(constants, name) ? constants[name] : undefined;
    if (!known) throw new Error(`there is no number named '${name}'`);
    return known;
  }

  function close(): void {
    if (!take(')')) throw unexpected();
  }

  function peek(): Token {
    return tokens[next] ?? { kind: 'end', at: expression.length + 1 };
  }

  function take(...signs: string[]): string | undefined {
    const token = peek();
    if (token.kind !== 'sign' || !signs.includes(token.text)) return undefined;
    next += 1;
    return token.text;
  }

  function unexpected(): Error {
    const token = peek();
    if (token.kind === 'end') return new Error('the expression ends too early');
    return new Error(`'${token.text}' at character ${token.at} was not expected there`);
  }
}

function finite(value: Decimal): Decimal {
  if (value.isNaN()) throw new Error('the result is not a real number');
  if (!value.isFinite() || value.e > maxExponent) throw new Error('the result is too large');
  return value.e < -maxExponent ? new PreciseDecimal(0) : value;
}
