import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLines, type TextLine } from '#shared/formats/batches/read-lines.ts';
import { readLineObject } from '#shared/formats/batches/read-line-object.ts';
import { findRetryTime } from '#shared/formats/batches/batch-format.ts';

async function* inPieces(text: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (const size of sizes) {
    yield text.subarray(from, from + size);
    from += size;
  }
  yield text.subarray(from);
}

async function read(text: string, sizes: readonly number[] = [], maxBytes = 1_000, start = 0): Promise<TextLine[]> {
  const found: TextLine[] = [];
  for await (const line of readLines(inPieces(Buffer.from(text), sizes), maxBytes, start)) found.push(line);
  return found;
}

describe('the lines of a text', () => {
  it('are split at line breaks, however the text is cut into pieces, and have the right positions', async () => {
    const line = fc.string().map((text) => text.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.integer({ min: 0, max: 20 })), async (lines, sizes) => {
        const text = lines.join('\n');
        const found = await read(text, sizes);
        const texts = found.map(({ bytes }) => bytes.toString());
        expect(texts).toEqual(lines.filter((each) => !/^[\t\r ]*$/.test(each)));
        const there = found.map(({ from, to }) => Buffer.from(text).subarray(from, to).toString());
        expect(there.map((each) => each.replace(/\n$/, ''))).toEqual(texts);
      }),
    );
  });

  it('have positions counted from the position of the first piece', async () => {
    const [first, second] = await read('ab\n\ncd', [1], 10, 100);
    expect(first).toMatchObject({ from: 100, to: 103, number: 1 });
    expect(second).toMatchObject({ from: 104, to: 106, number: 3 });
  });

  it('have no byte order mark, and blank lines of any length are left out but counted', async () => {
    const text = `\uFEFF\r\n${' '.repeat(100)}\nfirst\n\t\r\nsecond \uFEFF\n\n`;
    for (const sizes of [[], [1, 1, 1, 1], [2, 3]]) {
      const found = await read(text, sizes);
      expect(found.map(({ bytes, number }) => [bytes.toString(), number])).toEqual([
        ['first', 3],
        ['second \uFEFF', 5],
      ]);
    }
    expect(await read('\uFEFFa')).toMatchObject([{ bytes: Buffer.from('a'), from: 3, to: 4, number: 1 }]);
    const [inside] = await read('\uFEFFb', [], 10, 100);
    expect(inside).toMatchObject({ from: 100, to: 104 });
    expect(await read('\uFEFF')).toEqual([]);
  });

  it('have a maximum length', async () => {
    await expect(read(`short\n${'x'.repeat(30)}`, [7, 7, 7], 20)).rejects.toMatchObject({ code: 'body_too_large' });
  });
});

it.each([
  ['{"custom_id":', 'invalid_json', 'This request is not valid JSON: it must be one JSON object.'],
  ['[]', 'invalid_request', 'This request is not a JSON object.'],
  ['{"custom_id":"a","body":1}', 'missing_parameter', 'Missing or invalid body: it must be an object.'],
])('a batch line that is %s is refused with a message about the request', (line, code, message) => {
  expect(() => readLineObject(Buffer.from(line), 'body')).toThrow(expect.objectContaining({ code, message }));
});

it('a waiting batch has a retry time until its pause ends, and none while it lacks a worker', () => {
  expect(findRetryTime({ pausedUntil: 7_000 }, 6_999)).toBe(7_000);
  expect(findRetryTime({ pausedUntil: 7_000 }, 7_000)).toBeUndefined();
  expect(findRetryTime({ pausedUntil: 7_000, lacksWorker: true }, 6_000)).toBeUndefined();
  expect(findRetryTime({}, 6_000)).toBeUndefined();
});
