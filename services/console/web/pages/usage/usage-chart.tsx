import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { UsageReport } from '../../../contract/usage.ts';
import { measures, type Measure } from './usage-query.ts';

/** One colour per group, the rest share one. Colours that the colour-blind can distinguish (Okabe and Ito). */
const colours = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#b8a800'];
const otherColour = '#868e96';

const dayName = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const monthName = new Intl.DateTimeFormat(undefined, { month: 'short', year: '2-digit', timeZone: 'UTC' });

/** Usage over time: a bar for each step, stacked by group. The table below has the numbers. */
export function UsageChart({ report, measure }: { report: UsageReport; measure: Measure }) {
  const isDark = useComputedColorScheme('light') === 'dark';
  const { of, format, name } = measures[measure];
  const series = useMemo(() => seriesOf(report, of), [report, of]);
  const rows = report.times.map((time, step) => ({
    time: (report.step === 'day' ? dayName : monthName).format(time),
    ...Object.fromEntries(series.map(({ id, values }) => [id, values[step] ?? 0])),
  }));
  const ink = isDark ? '#c9c9c9' : '#495057';
  const line = isDark ? '#424242' : '#dee2e6';
  return (
    <figure style={{ margin: 0 }} aria-label={`${name} over time; the table below has the numbers`}>
      <ResponsiveContainer width="100%" height={260}>
        <BarChart data={rows} accessibilityLayer margin={{ top: 4, right: 4, bottom: 0, left: 4 }}>
          <CartesianGrid vertical={false} stroke={line} />
          <XAxis dataKey="time" stroke={ink} tick={{ fontSize: 12, fill: ink }} tickLine={false} minTickGap={16} />
          <YAxis
            stroke={ink}
            tick={{ fontSize: 12, fill: ink }}
            tickLine={false}
            axisLine={false}
            width={64}
            tickFormatter={(value) => format(Number(value))}
          />
          <Tooltip
            isAnimationActive={false}
            cursor={{ fill: line, opacity: 0.4 }}
            formatter={(value) => format(Number(value))}
            contentStyle={{ background: isDark ? '#242424' : '#fff', border: `1px solid ${line}`, color: ink }}
          />
          {series.length > 1 ? (
            <Legend
              wrapperStyle={{ fontSize: 12 }}
              formatter={(label) => <span style={{ color: ink }}>{label}</span>}
            />
          ) : null}
          {series.map(({ id, label, colour }) => (
            <Bar
              key={id}
              dataKey={id}
              name={label}
              stackId="all"
              fill={colour}
              isAnimationActive={false}
              maxBarSize={48}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </figure>
  );
}

interface Series {
  id: string;
  label: string;
  colour: string;
  values: number[];
}

/** A series for each of the largest groups, and one for the rest together. */
function seriesOf({ groups, times }: UsageReport, of: (totals: UsageReport['totals']) => number): Series[] {
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
