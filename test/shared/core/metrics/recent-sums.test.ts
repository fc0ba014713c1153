import { describe, expect, it } from 'vitest';
import { RecentSums } from '#shared/core/metrics/recent-sums.ts';

describe('sums of the last units of time', () => {
  it('are listed oldest first, without the current unit', () => {
    const sums = new RecentSums(3);
    sums.add(10, 1);
    sums.add(11, 2);
    sums.add(11, 2);
    sums.add(12, 7);
    expect(sums.sumsBefore(12)).toEqual([0, 1, 4]);
    expect(sums.sumsBefore(13)).toEqual([1, 4, 7]);
    expect(sums.totalUpTo(12)).toBe(12);
  });

  it('drop units that are too old, even after a long pause', () => {
    const sums = new RecentSums(3);
    sums.add(10, 1);
    expect(sums.sumsBefore(13)).toEqual([1, 0, 0]);
    expect(sums.sumsBefore(14)).toEqual([0, 0, 0]);
    sums.add(100, 5);
    expect(sums.sumsBefore(101)).toEqual([0, 0, 5]);
  });

  it('ignore values that come too late for their unit', () => {
    const sums = new RecentSums(3);
    sums.add(104, 5);
    sums.add(100, 9);
    expect(sums.sumsBefore(105)).toEqual([0, 0, 5]);
  });
});
