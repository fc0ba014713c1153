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
 * The chart of a report. A single day is shown by hours if the ledger keeps hours for its groups, which may be models, keys, teams or
 * people. If the ledger keeps no such hours, and there are no filters, the hours of all requests together are shown.
 */
export function UsagePlot({ report, query }: UsagePlotProps) {
  if (query.hoursQuery !== undefined) return <GroupHours hours={query.hoursQuery} report={report} query={query} />;
  if (query.span === '1d' && Object.keys(query.filters).length === 0) return <AllHours report={report} query={query} />;
  return <Plot plot={{ ...report, titleBy: groupLabels[query.by] }} query={query} />;
}

function GroupHours({ hours, report, query }: UsagePlotProps & { hours: string }) {
  const { data, error } = useApi<UsageHours>(`/usage/hours?${hours}`, { everyMs: 10_000 });
  if (!data && !error) return <Loading what="the chart" />;
  const titleBy = groupLabels[query.by];
  // The last hours of the day have not begun.
  const plot: PlotData = data
    ? removeFutureSteps({ ...data, step: 'hour', titleBy: `${titleBy} and hour` })
    : { ...report, titleBy };
  return <Plot plot={plot} query={query} />;
}

function AllHours({ report, query }: UsagePlotProps) {
  const { data, error } = useApi<UsageOverview>('/usage/overview?span=24h', { everyMs: 10_000 });
  if (!data && !error) return <Loading what="the chart" />;
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
      <Suspense fallback={<Loading what="the chart" />}>
        <UsageChart report={plot} measure={measure} formatStep={(at) => formatStep(plot.step, at)} />
      </Suspense>
    </section>
  );
}
