import { describe, expect, it } from 'vitest';
import { parseExact, writeExact, writeExactInPieces } from '#shared/core/exact-numbers.ts';
import { parseJsonText } from '#shared/core/json-text.ts';
import { least } from '../../helpers/least.ts';
import type { JsonObject } from '#shared/core/json.ts';

const large = '12345678901234567890 -9007199254740993 0.12345678901234567890 100000000000000000000000 1e400 -1E+400';
const odd = '1.0 -0.0 -0 0.10 1e5 2.5e-3 0.0000001';
const usual = '0 7 -7 0.5 -12.25 123456789012345 0.000001';

describe('a number that JSON.stringify would write differently', () => {
  it.each(`${large} ${odd} ${usual}`.split(' '))('is written as it was: %s', (number) => {
    for (const text of [`{"a":${number}}`, `{"a":{"b":[1,${number},"x"]},"c":[[${number}]]}`, `[${number}]`]) {
      expect(writeExact(parseExact(text))).toBe(text);
    }
  });

  it.each([' ', '\n', '\t'])('is found before white space: %j', (space) => {
    expect(writeExact(parseExact(`{"a": 1.0${space}}`))).toBe('{"a":1.0}');
  });

  it('is a plain number for code that reads it', () => {
    expect((parseExact('{"a":1.0}') as JsonObject)['a']).toBe(1);
  });

  it('keeps its text in a copy made by spread, too, until it is replaced', () => {
    const given = parseExact('{"a":1.0,"b":2.0,"c":{"d":3.0}}') as JsonObject;
    expect(writeExact({ ...given, b: 7, e: 1 })).toBe('{"a":1.0,"b":7,"c":{"d":3.0},"e":1}');
    const { a: _, ...rest } = given;
    expect(writeExact(rest)).toBe('{"b":2.0,"c":{"d":3.0}}');
  });

  it('has no effect on texts that look like one, nor on names', () => {
    const text = '{"1.0":"1.0","__proto__":{"x":1.0},"a":"[1.0, 1e400]","toJSON":2.0}';
    expect(writeExact(parseExact(text))).toBe(text);
  });
});

it('a text with more than 100,000 values is read and written in the usual time', async () => {
  const text = `{"n":[${'1.0,'.repeat(490_000)}2.50]}`;
  const ms = async (run: () => void): Promise<number> => {
    const startedAt = performance.now();
    run();
    return performance.now() - startedAt;
  };
  const usualMs = await least(() => ms(() => JSON.stringify(JSON.parse(text))), 0);
  const exactMs = await least(
    () => ms(() => parseJsonText(Buffer.from(text)).write({ ...(parseExact(text) as JsonObject) })),
    0,
  );
  expect(exactMs).toBeLessThan(10 * usualMs);
  expect(writeExact(parseExact(`[${'1.0,'.repeat(50_000)}2.50]`))).toMatch(/,1\.0,2\.50\]$/);
});

const numbers = `{"seed":12345678901234567890,"schema":{"maximum":1e400,"default":1.0}`;
const written = (text: string, lists?: Record<string, number>): string => {
  const { value, write } = parseJsonText(Buffer.from(text), lists);
  return Buffer.concat(write({ ...(value as JsonObject), model: 'b' })).toString();
};

it.each([
  ['that is short', '"x"', undefined],
  ['with a long string', `"${'A'.repeat(100_000)}"`, undefined],
  ['with lists that are not read', `[{"a":"${'A '.repeat(50_000)}"},1.0]`, { long: 1 }],
] as const)('a JSON text %s is written with its numbers as they were', (_, long, lists) => {
  const text = `${numbers},"long":${long},"model":"a"}`;
  expect(written(text, lists)).toBe(text.replace('"model":"a"', '"model":"b"'));
});

describe('a large value that is written in pieces', () => {
  const writePieces = (value: unknown): string[] => {
    const pieces: string[] = [];
    writeExactInPieces(value, (piece) => pieces.push(piece));
    return pieces;
  };

  it('has the same text as one that is written at once', () => {
    const texts = ['{"a":1.0,"b":[],"c":{},"漢":["ä\\u0000",null,true,-0.0,1e400,{"d":[[2.50]]}]}', '[]', '"x"', '7'];
    for (const text of texts) {
      const value = parseExact(text);
      expect(writePieces(value).join('')).toBe(writeExact(value));
    }
    const { a, ...rest } = parseExact('{"a":1.0,"b":2.0,"__proto__":{"x":3.0}}') as JsonObject;
    const changed = { ...rest, a: undefined, c: [undefined, a] };
    expect(writePieces(changed).join('')).toBe(writeExact(changed));
  });

  it('is never in memory as a whole text', () => {
    const value = { texts: Array(10_000).fill('漢'.repeat(1_000)) };
    const pieces = writePieces(value);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(20_000);
    expect(pieces.join('')).toBe(JSON.stringify(value));
    expect(
      Math.max(
        ...parseJsonText(Buffer.from(JSON.stringify(value)))
          .write(value)
          .map(({ length }) => length),
      ),
    ).toBeLessThan(60_000);
  });
});
