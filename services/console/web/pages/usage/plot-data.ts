import type { UsageOverview } from '../../../contract/usage.ts';
import type { ChartData } from './chart-series.ts';
import type { Step } from './format-step.ts';

export interface PlotData extends ChartData {
  step: Step;
  /** The word after 'by' in the title of the chart, for example `Model` or `Hour`. */
  titleBy: string;
}

/** Returns the hours of an overview that begin at `from` (ms since 1970) or later, as one group of all requests. */
export function toHourPlot({ times, steps, totals }: UsageOverview, from: number): PlotData {
  const first = times.findIndex((time) => time >= from);
  const firstIndex = first === -1 ? times.length : first;
  return {
    step: 'hour',
    titleBy: 'Hour',
    times: times.slice(firstIndex),
    groups: [{ id: 'all', name: 'All requests', totals, steps: steps.slice(firstIndex) }],
  };
}

/** Removes the steps that have not begun. */
export function removeFutureSteps(plot: PlotData, now = Date.now()): PlotData {
  const { times, groups } = plot;
  const count = times.filter((time) => time <= now).length;
  return {
    ...plot,
    times: times.slice(0, count),
    groups: groups.map((group) => ({ ...group, steps: group.steps.slice(0, count) })),
  };
}
