import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { ChartLegend, ChartTooltip } from './chart-parts.tsx';
import { otherColour, seriesOf, type ChartData } from './chart-series.ts';
import type { Measured } from './usage-query.ts';

/** No other code of the page imports what this file imports, so that either can be fetched again without the other. */
export interface UsageChartProps {
  report: ChartData;
  measure: { name: string; of: (sums: Measured) => number; format: (value: number) => string };
  stepName: (at: number) => string;
}

/** Shows usage over time, with a bar for each step, stacked by group. The table below has the numbers. */
export function UsageChart({ report, measure: { name, of, format }, stepName }: UsageChartProps) {
  const isDark = useComputedColorScheme('light') === 'dark';
  const series = useMemo(() => seriesOf(report, of), [report, of]);
  const rows = report.times.map((time, step) => ({
    time: stepName(time),
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
            content={({ active, label, payload }) =>
              active ? (
                <ChartTooltip
                  title={String(label)}
                  format={format}
                  parts={payload.map(({ name: part, value, color }) => ({
                    label: String(part),
                    colour: color ?? otherColour,
                    value: Number(value),
                  }))}
                />
              ) : null
            }
          />
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
      {series.length > 1 ? (
        <ChartLegend
          format={format}
          parts={series.map(({ label, colour, values }) => ({
            label,
            colour,
            value: values.reduce((sum, value) => sum + value, 0),
          }))}
        />
      ) : null}
    </figure>
  );
}
