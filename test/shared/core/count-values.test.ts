import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasMoreValues } from '#shared/core/count-values.ts';
import type { Json } from '#shared/core/json.ts';

function countOf(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return Math.max(1, inner.length) + inner.reduce<number>((sum, each) => sum + countOf(each), 0);
}

it('counts the elements of lists and the fields of objects, and an empty one as one', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const count = countOf(JSON.parse(text) as Json);
      expect(hasMoreValues(Buffer.from(text), count)).toBe(false);
      if (count > 0) expect(hasMoreValues(Buffer.from(text), count - 1)).toBe(true);
    }),
  );
});

it('counts nothing in strings, whatever they hold', () => {
  const text = JSON.stringify(['[,{'.repeat(100), '\\', '"', '\\"[', `${'x'.repeat(100)}\\`]);
  expect(hasMoreValues(Buffer.from(text), 5)).toBe(false);
  expect(hasMoreValues(Buffer.from(text), 4)).toBe(true);
});
