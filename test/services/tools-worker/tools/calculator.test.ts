import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCalculator } from '#services/tools-worker/tools/calculator/calculator.ts';
import { least } from '../../../helpers/least.ts';

const context = { signal: new AbortController().signal, progress: () => undefined };

async function calculate(expression: string): Promise<{ text: string; isError: boolean }> {
  const { content, isError } = await createCalculator().run({ expression }, context);
  const [block] = content;
  return { text: block?.type === 'text' ? block.text : '', isError };
}

describe('the calculator', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['0.1 + 0.2', '0.3'],
    ['123456789 * 987654321', '121932631112635269'],
    ['2 ^ 100', '1267650600228229401496703205376'],
    ['-2 ^ 2', '-4'],
    ['2 ^ 3 ^ 2', '512'],
    ['2 ** -1', '0.5'],
    ['--1', '1'],
    ['10 % 4 + 5!', '122'],
    ['3!!', '720'],
    ['1 / 3', '0.3333333333333333333333333333333333'],
    ['sqrt(2) ^ 2', '2'],
    ['sin(pi / 6)', '0.5'],
    ['ln(e ^ 3)', '3'],
    ['log(1000) + log(8, 2)', '6'],
    ['max(1, 2, 3) - min(4, 5)', '-1'],
    ['round(2.345, 2)', '2.35'],
    ['mod(-1, 3)', '2'],
    ['hypot(3, 4)', '5'],
    ['0x1F + 0b101', '36'],
    ['1.5e3 × 2 ÷ 3', '1000'],
    ['.5 + 5.', '5.5'],
    ['PI', '3.141592653589793238462643383279503'],
    ['1e100', '1e+100'],
  ])('calculates %s as %s', async (expression, text) => {
    expect(await calculate(expression)).toEqual({ text, isError: false });
  });

  it.each([
    ['1 +', 'the expression ends too early'],
    ['1 1', "'1' at character 3 was not expected there"],
    ['(1', 'the expression ends too early'],
    ['2pi', "'pi' at character 2 was not expected there"],
    ['1 / 0', 'division by zero'],
    ['5 % (3 - 3)', 'division by zero'],
    ['sqrt(-1)', 'the result is not a real number'],
    ['9 ^ 9 ^ 9 ^ 9', 'the result is too large'],
    ['exp(1e9)', 'the result is too large'],
    ['401!', 'a whole number from 0 to 400 is needed here'],
    ['sin(1e31)', 'an angle of at most 1e+30 is needed here'],
    ['0.5!', 'a whole number from 0 to 400 is needed here'],
    ['process.exit(1)', "'.' at character 8 is nothing that can be calculated with"],
    ['constructor(1)', "there is no function 'constructor'"],
    ['__proto__', "there is no number named '__proto__'"],
    ['sin(1, 2)', 'sin takes 1 values, not 2'],
    ['atan2(1)', 'atan2 takes 2 values, not 1'],
    [`${'('.repeat(101)}1${')'.repeat(101)}`, 'the expression is nested deeper than 100 levels'],
    [`2${'^2'.repeat(200)}`, 'the expression is nested deeper than 100 levels'],
  ])('refuses %s with the reason', async (expression, text) => {
    expect(await calculate(expression)).toEqual({ text, isError: true });
  });

  it('calculates the most expensive expressions within half a second', async () => {
    const long = ['sin(9e29)', '.7^.7', 'exp(9)', 'ln(7)', '400!', 'atan(9)', '2^-.1'].map((term) =>
      Array(Math.floor(500 / (term.length + 1)))
        .fill(term)
        .join('+'),
    );
    const large = ['400!', '1.0000001 ^ 9.9e9', 'log(1e999, 1.0000000001)', 'cbrt(9e999)', 'atan(9e999)'];
    for (const expression of [...large, '9e999 ^ 9e999', '1e-999 ^ 9', ...long]) {
      const take = async (): Promise<number> => {
        const started = performance.now();
        await calculate(expression);
        return performance.now() - started;
      };
      expect(await least(take, 500), expression).toBeLessThan(500);
    }
  });

  it('calculates correctly after an error', async () => {
    for (const expression of ['sin(9.9e999)', '9 ^ 9 ^ 9 ^ 9', 'log(-1)']) await calculate(expression);
    expect((await calculate('0.5 ^ 0.3333')).text).toBe('0.7937188645720144241783532013732678');
  });

  it('agrees with exact integers', async () => {
    const whole = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
    const operators = fc.constantFrom('+', '-', '*');
    await fc.assert(
      fc.asyncProperty(whole, operators, whole, async (a, operator, b) => {
        const exact = operator === '+' ? a + b : operator === '-' ? a - b : a * b;
        expect((await calculate(`(${a}) ${operator} (${b})`)).text).toBe(exact.toString());
      }),
    );
  });

  it('answers every text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 200 }), async (expression) => {
        expect((await calculate(expression)).text).not.toBe('');
      }),
    );
  });
});
