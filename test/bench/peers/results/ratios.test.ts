import { describe, expect, it } from 'vitest';
import type { Metric, PeerResults } from './peer-results.ts';
import { ratiosOf } from './ratios.ts';
import { digits, summarize } from './summary.ts';

describe('a summary', () => {
  it('is the median with the distance between the extremes', () => {
    expect(summarize([3, 1, 2])).toEqual({ median: 2, spread: 1 });
    expect(summarize([4, 1, 2, 3])).toEqual({ median: 2.5, spread: 1.2 });
    expect(summarize([])).toBeUndefined();
  });

  it('has the significant digits only', () => {
    const shown = ['1235', '12.3', '1.23', '0.12', '0.012', '0'];
    expect([1234.5, 12.34, 1.234, 0.123, 0.01234, 0].map(digits)).toEqual(shown);
  });
});

describe('the ratios', () => {
  it('compare the medians of two sides', () => {
    const results = resultsWith('whole-32', 'cpu', { rtr: [0.9, 0.5, 0.6], express: [0.2, 0.3, 0.4] });
    expect(ratioOf(results, 'CPU, 32 at a time, ÷ bare proxy')).toBeCloseTo(2);
  });

  it('compare medians of two cells', () => {
    const results = resultsWith('whole-32', 'cpu', { rtr: [0.2] });
    results.cells.push(...resultsWith('messages-chat', 'cpu', { rtr: [0.25] }).cells);
    expect(ratioOf(results, 'CPU, messages client of a chat upstream, ÷ chat client')).toBeCloseTo(1.25);
  });

  it('compare keys with limits with one without', () => {
    const results = resultsWith('whole-32', 'cpu', { rtr: [0.2], 'rtr, limited key and team': [0.3] });
    expect(ratioOf(results, 'CPU, limited key and team, ÷ without limits')).toBeCloseTo(1.5);
  });

  it('are the figure itself where there is nothing to compare with', () => {
    const results = resultsWith('held-streams', 'kibPerStream', { rtr: [41, 39, 40] });
    expect(ratioOf(results, 'memory of a waiting stream, KiB')).toBe(40);
  });

  it('are unknown where a side was not measured', () => {
    expect(ratioOf(resultsWith('whole-32', 'cpu', { rtr: [1] }), 'CPU, 32 at a time, ÷ smg')).toBeUndefined();
  });
});

function ratioOf(results: PeerResults, what: string): number | undefined {
  const ratio = ratiosOf(results).find((each) => each.what === what);
  if (!ratio) throw new Error(`there is no ratio ${what}`);
  return ratio.value;
}

function resultsWith(name: string, metric: Metric, values: Record<string, number[]>): PeerResults {
  const sides = Object.entries(values).map(([side, all]) => [side, { values: { [metric]: all }, failures: {} }]);
  return {
    date: '2026-01-01',
    machine: { cpu: '', cores: 2, memoryGib: 1, kernel: '', node: '' },
    quick: true,
    rounds: 1,
    minutes: 1,
    takenByOthers: 0,
    systems: [],
    leftOut: [],
    cells: [{ name, title: name, sides: Object.fromEntries(sides) as PeerResults['cells'][number]['sides'] }],
  };
}
