import { expect, it } from 'vitest';
import { toHourPlot, removeFutureSteps } from '#services/console/web/pages/usage/plot-data.ts';
import type { UsageOverview } from '#services/console/contract/usage.ts';

const hourMs = 3_600_000;

it('the chart of a day by hours has only the hours of that day', () => {
  const midnight = Date.UTC(2026, 10, 28);
  const times = [-2, -1, 0, 1, 2].map((hour) => midnight + hour * hourMs);
  const steps = times.map((_, requests) => ({ requests }));
  const overview = { times, steps, totals: { requests: 10 } } as unknown as UsageOverview;
  const { step, times: shown, groups } = toHourPlot(overview, midnight);
  expect([step, shown]).toEqual(['hour', times.slice(2)]);
  expect(groups.map((group) => group.steps)).toEqual([[{ requests: 2 }, { requests: 3 }, { requests: 4 }]]);
  expect(toHourPlot(overview, midnight + 24 * hourMs).times).toEqual([]);
});

it('the chart of a day by hours has no hours that have not begun', () => {
  const times = [0, 1, 2].map((hour) => hour * hourMs);
  const sums = (requests: number) => ({ requests, promptTokens: 0, completionTokens: 0, cost: 0 });
  const groups = [{ id: 'm', name: 'm', totals: sums(6), steps: [1, 2, 3].map(sums) }];
  const shown = removeFutureSteps({ step: 'hour', titleBy: 'Model', times, groups }, hourMs);
  expect(shown.times).toEqual([0, hourMs]);
  expect(shown.groups[0]?.steps.map(({ requests }) => requests)).toEqual([1, 2]);
});
