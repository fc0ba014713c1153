import type { Measured } from './usage-query.ts';

/** The colours of the largest groups; all others share `otherColour`. Colour-blind people can distinguish them (Okabe and Ito). */
const colours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800'];
export const otherColour = '#868e96';

/** Sums by group and by step, and the beginnings of the steps. */
export interface ChartData {
  times: readonly number[];
  groups: readonly { id: string; name: string; totals: Measured; steps: readonly Measured[] }[];
}

export interface Series {
  id: string;
  label: string;
  colour: string;
  values: number[];
}

/** Returns a series for each of the largest groups, and one for all others together. */
export function seriesOf({ groups, times }: ChartData, of: (sums: Measured) => number): Series[] {
  const ordered = groups.toSorted((a, b) => of(b.totals) - of(a.totals)).filter(({ totals }) => of(totals) > 0);
  const shown = ordered.slice(0, colours.length).map(({ id, name, steps }, place) => ({
    // An id may contain dots, which the chart would read as a path.
    id: `group${place}`,
    label: name || id || 'none',
    colour: colours[place] ?? otherColour,
    values: steps.map(of),
  }));
  const rest = ordered.slice(colours.length);
  if (rest.length === 0) return shown;
  const values = times.map((_, step) => rest.reduce((sum, { steps }) => sum + (steps[step] ? of(steps[step]) : 0), 0));
  return [...shown, { id: 'rest', label: `${rest.length} others`, colour: otherColour, values }];
}
