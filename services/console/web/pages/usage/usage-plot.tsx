import { Badge, Group, Title } from '@mantine/core';
import { Suspense } from 'react';
import type { UsageOverview, UsageReport } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { lazyCode } from '../../parts/lazy-code.tsx';
import { Loading } from '../../parts/loaded.tsx';
import { hoursSince, type Plotted } from './hours-since.ts';
import { stepName, stepText } from './step-name.ts';
import { groups, measures, type UsageQuery } from './usage-query.ts';

const { Code: UsageChart } = lazyCode(
  () => import('./usage-chart.tsx'),
  ({ UsageChart }) => UsageChart,
);

/** The chart of a report. A single day is shown by hours where the ledger has them: of all requests together, without filters. */
export function UsagePlot({ report, query }: { report: UsageReport; query: UsageQuery }) {
  const hasHours = query.span === '1d' && Object.keys(query.filters).length === 0;
  const overview = useApi<UsageOverview>('/usage/overview?span=24h', { enabled: hasHours, everyMs: 10_000 });
  const measure = measures[query.measure];
  if (hasHours && !overview.data && !overview.error) return <Loading what="the chart" />;
  const plotted: Plotted =
    hasHours && overview.data ? hoursSince(overview.data, report.times[0] ?? 0) : { ...report, by: groups[query.by] };
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
