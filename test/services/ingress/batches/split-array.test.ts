import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArraySplitter } from '#services/ingress/batches/split-array.ts';
import { errorWith } from '../../../helpers/error-with.ts';

/** Splits a text that arrives in pieces of these sizes. */
function split(text: string, sizes: readonly number[] = []): unknown[] {
  const splitter = new ArraySplitter('requests', 10_000);
  const bytes = Buffer.from(text);
  const elements: Buffer[] = [];
  let from = 0;
  for (const size of sizes) {
    elements.push(...splitter.push(bytes.subarray(from, from + size)));
    from += size;
  }
  elements.push(...splitter.push(bytes.subarray(from)));
  splitter.end();
  return elements.map((element) => {
    expect(element.includes('\n')).toBe(false);
    return JSON.parse(element.toString()) as unknown;
  });
}

describe('the elements of an array in a body', () => {
  it('are those that a parser finds, however the body is written and cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue(), { maxLength: 8 }),
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
        fc.constantFrom(0, 2, '\t'),
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 30 }),
        (requests, others, indent, sizes) => {
          const { requests: _, ...before } = others;
          const text = JSON.stringify({ ...before, requests, after: before }, undefined, indent);
          const plain = JSON.parse(JSON.stringify(requests)) as unknown;
          expect(split(text, sizes)).toEqual(plain);
        },
      ),
    );
  });

  it('are only those of the top-level field', () => {
    const text = '{"a":{"requests":[1]},"b":"\\"requests\\":[2]","requests":[3,[4,5],"],"]}';
    expect(split(text)).toEqual([3, [4, 5], '],']);
  });

  const noObjects = ['', '[1]', '"requests"', '{"requests":[1]', '{"requests":[1]}x', '{"requests":[1]}{}'];
  const unmatched = [
    '{"requests":[{"a":1},{"a":2}}]',
    '{"requests":[{"a":1},{"a":2}}',
    '{"requests":[{"a":1}},{"a":2}]',
  ];

  it.each([...noObjects, ...unmatched])('are refused in %j, which is no object, rather than taken in part', (text) => {
    expect(() => split(text)).toThrow(errorWith('invalid_json'));
  });

  it.each(['{}', '{"requests":{}}', '{"requests":1}', '{"requests":{"requests":[1]}}'])('are missing in %j', (text) => {
    expect(() => split(text)).toThrow(errorWith('missing_parameter'));
  });

  it('may not be too large', () => {
    const text = JSON.stringify({ requests: ['x'.repeat(20_000)] });
    expect(() => split(text, [4_000, 4_000, 4_000])).toThrow(errorWith('body_too_large'));
  });
});
