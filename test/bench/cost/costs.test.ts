import { describe, expect, it } from 'vitest';
import type { PeerResults } from '../peers/results/peer-results.ts';
import { computeCosts, findRisen, keepLower, keptFor } from './costs.ts';

const side = (cpu: number[]) => ({ values: { cpu }, failures: {} });

const results = {
  cells: [
    {
      name: 'request',
      title: '',
      sides: {
        express: side([0.1, 0.11, 0.2]),
        rtr: side([0.24, 0.22, 0.44]),
        'rtr, limited key and team, concurrency too': side([0.252, 0.231, 0.5]),
      },
    },
    { name: 'stream', title: '', sides: { express: side([1.2, 1, 1]), rtr: side([2.2, 2.1, 2.5]) } },
  ],
} as unknown as PeerResults;

const kept = { request: 2, stream: 2.5, limits: 1.1 };

describe('the costs', () => {
  it('are the ratios of the least processor time of either side', () => {
    expect(computeCosts(results)).toEqual({ request: 2.2, stream: 2.1, limits: 1.05 });
  });

  it('have risen if they are more than a tenth above what is kept', () => {
    expect(findRisen({ request: 2.2, stream: 2.1, limits: 1.05 }, kept)).toEqual([]);
    expect(findRisen({ request: 2.21, stream: 2.76, limits: 1.2 }, kept)).toEqual(['request', 'stream']);
  });

  it('are kept by the maker of the processor, and the highest ones count for another', () => {
    const all = { AMD: kept, Intel: { request: 2.4, stream: 2.2, limits: 1 } };
    expect(keptFor('Intel', all)).toBe(all.Intel);
    expect(keptFor('Other', all)).toEqual({ request: 2.4, stream: 2.5, limits: 1.1 });
  });

  it('that are lower replace what is kept, and others do not', () => {
    expect(keepLower({ request: 2.2, stream: 2.1, limits: 1.05 }, kept)).toEqual({
      request: 2,
      stream: 2.1,
      limits: 1.05,
    });
  });
});
