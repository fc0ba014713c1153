import { describe, expect, it } from 'vitest';
import { isWorthSplitting, partSize } from '#shared/serving/splitting/part-size.ts';

const kibibyte = 1024;

describe('the parts of a request', () => {
  it.each([
    ['as many as there are free slots', 400, 40 * kibibyte, 8, 50],
    ['of 256 inputs at most', 10_000, 100 * kibibyte, 4, 256],
    ['of 16 inputs at least', 64, 10 * kibibyte, 50, 16],
    ['of 256 KiB at most', 1_000, 8_000 * kibibyte, 2, 32],
    ['of one input, if that is larger', 40, 40_000 * kibibyte, 2, 1],
    ['of 256 inputs, if no worker is free', 10_000, 100 * kibibyte, 0, 256],
  ])('are %s', (_, inputs, bytes, free, size) => {
    expect(partSize(inputs, bytes, free)).toBe(size);
  });

  it('are worth it from two of the smallest', () => {
    expect([31, 32].map(isWorthSplitting)).toEqual([false, true]);
  });
});
