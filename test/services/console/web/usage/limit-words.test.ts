import { describe, expect, it } from 'vitest';
import { amountUsed, sortByTightestLimit } from '#services/console/web/pages/usage/limit-words.ts';

describe('the used part of a limit', () => {
  it('is not rounded up to the limit before the limit is used up', () => {
    expect(amountUsed('requestsPerMinute', 2.23, 3)).toBe('2.2 of 3');
    expect(amountUsed('requestsPerMinute', 2.99, 3)).toBe('2.9 of 3');
    expect(amountUsed('requestsPerMinute', 3, 3)).toBe('3 of 3');
    expect(amountUsed('tokensPerDay', 999_999.5, 1_000_000)).toBe('999,999 of 1,000,000');
    expect(amountUsed('tokensPerDay', 740_000, 1_000_000)).toBe('740K of 1M');
    expect(amountUsed('costPerMonth', 9.999, 10)).toBe('$9.99 of $10.00');
  });

  it('is sorted by the tightest limit of each party', () => {
    const use = (name: string, ...shares: number[]) => {
      const limits = shares.map((used) => ({ name: 'requestsPerMinute', limit: 1, used }));
      return { party: `key:${name}`, name, limits };
    };
    const uses = [use('none'), use('c', 0.1), use('b', 0.1), use('d', 0.2, 0.9), use('a', 0.5, 0.5)];
    expect(sortByTightestLimit(uses).map(({ name }) => name)).toEqual(['d', 'a', 'b', 'c']);
  });
});
