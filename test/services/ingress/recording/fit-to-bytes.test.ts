import { expect, it } from 'vitest';
import { fitToBytes } from '#services/ingress/recording/fit-to-bytes.ts';

const list = [{ a: 1 }, { b: 'ää' }, { c: 3 }];
const bytes = Buffer.byteLength(JSON.stringify(list));

it('the part of a list that fits is the whole list up to the bound, in bytes', () => {
  expect(fitToBytes(list, bytes, 'first')).toEqual({ text: JSON.stringify(list) });
  expect(fitToBytes(list, bytes, 'last')).toEqual({ text: JSON.stringify(list) });
});

it('the part of a list that fits is its first or last elements beyond the bound, each of them whole', () => {
  expect(fitToBytes(list, bytes - 1, 'first')).toEqual({ text: '[{"a":1},{"b":"ää"}]', leftOut: 1 });
  expect(fitToBytes(list, bytes - 1, 'last')).toEqual({ text: '[{"b":"ää"},{"c":3}]', leftOut: 1 });
  expect(fitToBytes(list, 3, 'last')).toEqual({ text: '[]', leftOut: 3 });
});

it('the part of a list that fits does not exist for an empty list', () => {
  expect(fitToBytes([], 10, 'first')).toBeUndefined();
});
