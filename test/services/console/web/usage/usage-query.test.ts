import { describe, expect, it } from 'vitest';
import { readUsageQuery } from '#services/console/web/pages/usage/usage-query.ts';

const noon = Date.UTC(2026, 10, 21, 12);

describe("the usage page's address", () => {
  it('stands for the last seven days by model when it is empty, and for the same query all day', () => {
    const { span, by, measure, reportQuery: report } = readUsageQuery(new URLSearchParams(), noon);
    expect({ span, by, measure }).toEqual({ span: '7d', by: 'model', measure: 'tokens' });
    const range = { from: String(Date.UTC(2026, 10, 15)), to: String(Date.UTC(2026, 10, 22)) };
    expect(Object.fromEntries(new URLSearchParams(report))).toEqual({ ...range, step: 'day', by: 'model' });
    expect(readUsageQuery(new URLSearchParams(), noon + 3_600_000).reportQuery).toBe(report);
  });

  it('sets the span, the groups and filters; invalid parts are ignored', () => {
    const search = new URLSearchParams('span=1y&by=key&measure=cost&tier=gpu&model=a%2Fb&outcome=x&user=');
    const query = readUsageQuery(search, noon);
    expect(query).toMatchObject({ span: '1y', by: 'key', measure: 'cost', filters: { tier: 'gpu', model: 'a/b' } });
    expect(new URLSearchParams(query.reportQuery).get('step')).toBe('month');
    const invalid = new URLSearchParams('span=ever&by=mood&measure=x');
    expect(readUsageQuery(invalid, noon)).toMatchObject({ span: '7d', by: 'model' });
  });

  it('selects twelve months, the current one included, for a year', () => {
    const from = (at: number): number =>
      Number(new URLSearchParams(readUsageQuery(new URLSearchParams('span=1y'), at).reportQuery).get('from'));
    expect(from(noon)).toBe(Date.UTC(2025, 11, 1));
    expect(from(Date.UTC(2026, 11, 31, 23))).toBe(Date.UTC(2026, 0, 1));
    expect(from(Date.UTC(2028, 1, 29))).toBe(Date.UTC(2027, 2, 1));
  });

  it('selects the hours of a single day by model, key, team and person, as far as hours are kept', () => {
    const hoursOf = (address: string): string | undefined =>
      readUsageQuery(new URLSearchParams(address), noon).hoursQuery;
    const hours = Object.fromEntries(new URLSearchParams(hoursOf('span=1d&by=key&team=t1')));
    const day = { from: String(Date.UTC(2026, 10, 21)), to: String(Date.UTC(2026, 10, 22)) };
    expect(hours).toEqual({ ...day, by: 'key', team: 't1' });
    expect([hoursOf('span=1d'), hoursOf('span=1d&by=user')]).not.toContain(undefined);
    for (const other of ['span=7d', 'span=1d&by=tier', 'span=1d&key=k1', 'span=1d&by=key&model=m1'])
      expect([other, hoursOf(other)]).toEqual([other, undefined]);
  });

  it('filters refused requests by key, team or person, and not by model', () => {
    const { refusedQuery: refused } = readUsageQuery(new URLSearchParams('by=key&model=m1&key=k1&team=t1'), noon);
    expect(Object.fromEntries(new URLSearchParams(refused))).toMatchObject({ by: 'code', key: 'k1', team: 't1' });
    expect(refused).not.toContain('model');
  });
});
