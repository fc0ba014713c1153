import { Badge, Group, Title } from '@mantine/core';
import { Suspense } from 'react';
import type { UsageHours, UsageOverview, UsageReport } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { createLazyCode } from '../../parts/lazy-code.tsx';
import { Loading } from '../../parts/loaded.tsx';
import { toHourPlot, removeFutureSteps, type PlotData } from './plot-data.ts';
import { formatStep, describeStep } from './format-step.ts';
import { groupLabels, measures, type UsageQuery } from './usage-query.ts';

const { Code: UsageChart } = createLazyCode(
  () => import('./usage-chart.tsx'),
  ({ UsageChart }) => UsageChart,
);

interface UsagePlotProps {
  report: UsageReport;
  query: UsageQuery;
}

/**
 * Shows the chart of a report. For a single day, the chart has a bar for each hour, by group if the ledger keeps hours for these groups. If
 * not, and if there are no filters, the chart shows the hours of all requests together.
 */
export function UsagePlot({ report, query }: UsagePlotProps) {
  if (query.hoursQuery !== undefined) return <GroupHours hoursQuery={query.hoursQuery} report={report} query={query} />;
  if (query.span === '1d' && Object.keys(query.filters).length === 0) return <AllHours report={report} query={query} />;
  return <Plot plot={{ ...report, titleBy: groupLabels[query.by] }} query={query} />;
}

function GroupHours({ hoursQuery, report, query }: UsagePlotProps & { hoursQuery: string }) {
  const { data, error } = useApi<UsageHours>(`/usage/hours?${hoursQuery}`, { everyMs: 10_000 });
  if (!data && !error) return <Loading contentName="the chart" />;
  const titleBy = groupLabels[query.by];
  // The last hours of the day are still in the future.
  const plot: PlotData = data
    ? removeFutureSteps({ ...data, step: 'hour', titleBy: `${titleBy} and hour` })
    : { ...report, titleBy };
  return <Plot plot={plot} query={query} />;
}

function AllHours({ report, query }: UsagePlotProps) {
  const { data, error } = useApi<UsageOverview>('/usage/overview?span=24h', { everyMs: 10_000 });
  if (!data && !error) return <Loading contentName="the chart" />;
  const plot = data ? toHourPlot(data, report.times[0] ?? 0) : { ...report, titleBy: groupLabels[query.by] };
  return <Plot plot={plot} query={query} />;
}

function Plot({ plot, query }: { plot: PlotData; query: UsageQuery }) {
  const measure = measures[query.measure];
  return (
    <section className="panel">
      <Group justify="space-between" mb="sm">
        <Title order={2}>
          {measure.name} by {plot.titleBy.toLowerCase()}
        </Title>
        <Badge variant="default">{describeStep(plot.step)}</Badge>
      </Group>
      <Suspense fallback={<Loading contentName="the chart" />}>
        <UsageChart report={plot} measure={measure} formatStep={(at) => formatStep(plot.step, at)} />
      </Suspense>
    </section>
  );
}
