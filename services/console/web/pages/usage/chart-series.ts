import type { MeasuredTotals } from './usage-query.ts';

/**
 * The colours of the largest groups. All other groups share `otherColour`. Colour-blind people can distinguish the colours (palette of
 * Okabe and Ito).
 */
const colours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800'];
export const otherColour = '#868e96';

/** Sums by group and by step. `times` are the beginnings of the steps, in ms since 1970. */
export interface ChartData {
  times: readonly number[];
  groups: readonly { id: string; name: string; totals: MeasuredTotals; steps: readonly MeasuredTotals[] }[];
}

export interface Series {
  id: string;
  label: string;
  colour: string;
  values: number[];
}

/** Returns a series for each of the largest groups, and one for all other groups together. */
export function toSeries({ groups, times }: ChartData, computeValue: (sums: MeasuredTotals) => number): Series[] {
  const groupsBySize = groups
    .toSorted((a, b) => computeValue(b.totals) - computeValue(a.totals))
    .filter(({ totals }) => computeValue(totals) > 0);
  const largestSeries = groupsBySize.slice(0, colours.length).map(({ id, name, steps }, index) => ({
    // The group's own id may contain dots, which the chart would read as a path.
    id: `group${index}`,
    label: name || id || 'none',
    colour: colours[index] ?? otherColour,
    values: steps.map(computeValue),
  }));
  const otherGroups = groupsBySize.slice(colours.length);
  if (otherGroups.length === 0) return largestSeries;
  const values = times.map((_, step) =>
    otherGroups.reduce((sum, { steps }) => sum + (steps[step] ? computeValue(steps[step]) : 0), 0),
  );
  return [...largestSeries, { id: 'rest', label: `${otherGroups.length} others`, colour: otherColour, values }];
}
