import { Badge, Group, Title } from '@mantine/core';
import { Suspense } from 'react';
import type { UsageHours, UsageOverview, UsageReport } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { lazyCode } from '../../parts/lazy-code.tsx';
import { Loading } from '../../parts/loaded.tsx';
import { hoursSince, untilNow, type PlotData } from './hours-since.ts';
import { stepName, stepText } from './step-name.ts';
import { groups, measures, type UsageQuery } from './usage-query.ts';

const { Code: UsageChart } = lazyCode(
  () => import('./usage-chart.tsx'),
  ({ UsageChart }) => UsageChart,
);

interface UsagePlotProps {
  report: UsageReport;
  query: UsageQuery;
}

/**
 * The chart of a report. A single day is shown by hours if the ledger keeps hours for its groups, which may be models, keys, teams or
 * people. If it does not and there are no filters, the hours of all requests together are shown.
 */
export function UsagePlot({ report, query }: UsagePlotProps) {
  if (query.hours !== undefined) return <GroupHours hours={query.hours} report={report} query={query} />;
  if (query.span === '1d' && Object.keys(query.filters).length === 0) return <AllHours report={report} query={query} />;
  return <Plot plotted={{ ...report, by: groups[query.by] }} query={query} />;
}

function GroupHours({ hours, report, query }: UsagePlotProps & { hours: string }) {
  const { data, error } = useApi<UsageHours>(`/usage/hours?${hours}`, { everyMs: 10_000 });
  if (!data && !error) return <Loading what="the chart" />;
  const by = groups[query.by];
  // The last hours of the day have not begun.
  const plotted: PlotData = data ? untilNow({ ...data, step: 'hour', by: `${by} and hour` }) : { ...report, by };
  return <Plot plotted={plotted} query={query} />;
}

function AllHours({ report, query }: UsagePlotProps) {
  const { data, error } = useApi<UsageOverview>('/usage/overview?span=24h', { everyMs: 10_000 });
  if (!data && !error) return <Loading what="the chart" />;
  const plotted = data ? hoursSince(data, report.times[0] ?? 0) : { ...report, by: groups[query.by] };
  return <Plot plotted={plotted} query={query} />;
}

function Plot({ plotted, query }: { plotted: PlotData; query: UsageQuery }) {
  const measure = measures[query.measure];
  return (
    <section className="panel">
      <Group justify="space-between" mb="sm">
        <Title order={2}>
          {measure.name} by {plotted.by.toLowerCase()}
        </Title>
        <Badge variant="default">{stepText(plotted.step)}</Badge>
      </Group>
      <Suspense fallback={<Loading what="the chart" />}>
        <UsageChart report={plotted} measure={measure} stepName={(at) => stepName(plotted.step, at)} />
      </Suspense>
    </section>
  );
}
