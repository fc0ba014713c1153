import { describe, expect, it } from 'vitest';
import { slope } from './slope.ts';

describe('the slope of samples', () => {
  it('is the growth from one value to the next', () => {
    expect(slope([10, 13, 16, 19])).toBeCloseTo(3);
    expect(slope([5, 5, 5])).toBe(0);
  });

  it('is hardly moved by a single outlier', () => {
    expect(Math.abs(slope([5, 5, 5, 50, 5, 5, 5]))).toBeLessThan(0.1);
  });

  it('is 0 where there is nothing to compare', () => {
    expect(slope([7])).toBe(0);
    expect(slope([])).toBe(0);
  });
});
