import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { ChartLegend, ChartTooltip } from './chart-parts.tsx';
import { otherColour, toSeries, type ChartData } from './chart-series.ts';
import type { MeasuredTotals } from './usage-query.ts';

// Only this file imports the chart library, so that a browser can fetch the code of the chart and the code of the page separately.

export interface UsageChartProps {
  report: ChartData;
  measure: { name: string; computeValue: (sums: MeasuredTotals) => number; format: (value: number) => string };
  formatStep: (at: number) => string;
}

/** Shows usage over time, with a bar for each step, stacked by group. The table below has the numbers. */
export function UsageChart({ report, measure: { name, computeValue, format }, formatStep }: UsageChartProps) {
  const isDark = useComputedColorScheme('light') === 'dark';
  const series = useMemo(() => toSeries(report, computeValue), [report, computeValue]);
  const rows = report.times.map((time, step) => ({
    time: formatStep(time),
    ...Object.fromEntries(series.map(({ id, values }) => [id, values[step] ?? 0])),
  }));
  const textColour = isDark ? '#c9c9c9' : '#495057';
  const lineColour = isDark ? '#424242' : '#dee2e6';
  return (
    <figure style={{ margin: 0 }} aria-label={`${name} over time; the table below has the numbers`}>
      <ResponsiveContainer width="100%" height={260}>
        <BarChart data={rows} accessibilityLayer margin={{ top: 4, right: 4, bottom: 0, left: 4 }}>
          <CartesianGrid vertical={false} stroke={lineColour} />
          <XAxis
            dataKey="time"
            stroke={textColour}
            tick={{ fontSize: 12, fill: textColour }}
            tickLine={false}
            minTickGap={16}
          />
          <YAxis
            stroke={textColour}
            tick={{ fontSize: 12, fill: textColour }}
            tickLine={false}
            axisLine={false}
            width={64}
            tickFormatter={(value) => format(Number(value))}
          />
          <Tooltip
            isAnimationActive={false}
            cursor={{ fill: lineColour, opacity: 0.4 }}
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
