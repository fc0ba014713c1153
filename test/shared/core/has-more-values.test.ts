import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasMoreValues, type ValueCounts } from '#shared/core/has-more-values.ts';
import type { Json } from '#shared/core/json.ts';

function countsOf(value: Json | undefined): ValueCounts {
  if (typeof value !== 'object' || value === null) return { values: 0, groups: 0 };
  const all = Object.values(value).map(countsOf);
  return {
    values: Math.max(1, all.length) + all.reduce((sum, { values }) => sum + values, 0),
    groups: 1 + all.reduce((sum, { groups }) => sum + groups, 0),
  };
}

it('counts lists and objects, and their contents; an empty one is a value as well', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const bytes = Buffer.from(text);
      const { values, groups } = countsOf(JSON.parse(text) as Json);
      expect(hasMoreValues(bytes, { values, groups })).toBe(false);
      if (groups === 0) return;
      expect(hasMoreValues(bytes, { values: values - 1, groups })).toBe(true);
      expect(hasMoreValues(bytes, { values, groups: groups - 1 })).toBe(true);
    }),
  );
});

it('counts nothing in strings, whatever they contain', () => {
  const bytes = Buffer.from(JSON.stringify(['[,{'.repeat(100), '\\', '"', '\\"[', `${'x'.repeat(100)}\\`]));
  expect(hasMoreValues(bytes, { values: 5, groups: 1 })).toBe(false);
  expect(hasMoreValues(bytes, { values: 4, groups: 1 })).toBe(true);
});
