import { Group, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { UsageOverview } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDuration, formatMoney, formatShort } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Tile } from '../../parts/tile.tsx';
import type { OverviewSpan } from './overview-spans.tsx';
import { SpanBars } from './span-bars.tsx';
import { TopUsage } from './top-usage.tsx';
import { formatPeriod } from '../../parts/dates.ts';

const fetchEveryMs = { '1h': 10_000, '24h': 30_000, '7d': 60_000 } as const;

/**
 * Shows sums of the requests that began in a span. Administrators see everybody's requests. Other people see their own requests and the
 * requests of their teams.
 */
export function SpanOverview({ span }: { span: OverviewSpan }) {
  const overviewQuery = useApi<UsageOverview>(`/usage/overview?span=${span}`, { everyMs: fetchEveryMs[span] });
  return (
    <Loaded query={overviewQuery} contentName="the overview">
      {(overview) => (overview.totals.requests === 0 ? <NoRequests /> : <Sums overview={overview} />)}
    </Loaded>
  );
}

function NoRequests() {
  return (
    <EmptyPanel title="No requests in this time">
      Choose a longer time, or send a request from the <Link href="/playground">playground</Link>.
    </EmptyPanel>
  );
}

function Sums({ overview }: { overview: UsageOverview }) {
  const { span, steps, totals, firstTokenMs, totalMs, models, keys, workers } = overview;
  const { requests, failed, cancelled, promptTokens, completionTokens, cost } = totals;
  return (
    <Stack gap="sm">
      <div className="tiles tiles-three">
        <Tile name="Requests" value={formatCount(requests)} series={steps.map((step) => step.requests)}>
          {formatCount(cancelled)} cancelled
        </Tile>
        <Tile
          name="Error rate"
          value={formatPercent(failed / requests)}
          isBad={failed > 0}
          series={steps.map(computeErrorRate)}
        >
          {formatCount(failed)} failed
        </Tile>
        <Tile name="Time to first token" value={firstTokenMs ? formatDuration(firstTokenMs.p50) : '–'}>
          {firstTokenMs ? `p95 ${formatDuration(firstTokenMs.p95)}` : 'no answer'}
        </Tile>
        <Tile name="Total time" value={totalMs ? formatDuration(totalMs.p50) : '–'}>
          {totalMs ? `p95 ${formatDuration(totalMs.p95)}` : 'no answer'}
        </Tile>
        <Tile
          name="Tokens"
          value={formatShort(promptTokens + completionTokens)}
          series={steps.map((step) => step.promptTokens + step.completionTokens)}
        >
          {formatShort(promptTokens)} in, {formatShort(completionTokens)} out
        </Tile>
        <Tile name="Cost" value={formatMoney(cost)} series={steps.map((step) => step.cost)}>
          by the price table
        </Tile>
      </div>
      <section className="panel">
        <Group justify="space-between" mb="xs">
          <Title order={2}>Requests</Title>
          <Text size="xs" c="dimmed">
            {formatPeriod(overview)}
          </Text>
        </Group>
        <SpanBars overview={overview} />
      </section>
      <div className="halves">
        <TopUsage
          title="Top models"
          items={models}
          buildLink={({ id }) => `/requests?model=${encodeURIComponent(id)}&span=${span}`}
        />
        <TopUsage
          title="Top keys"
          items={keys}
          buildLink={({ id }) => `/requests?key=${encodeURIComponent(id)}&span=${span}`}
        />
        <TopUsage title="Top workers" items={workers} />
      </div>
    </Stack>
  );
}

function computeErrorRate({ requests, failed }: UsageOverview['totals']): number {
  return requests === 0 ? 0 : failed / requests;
}

/** Returns a share as a percentage, for example `0.4 %`. */
function formatPercent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 0.1 ? '< 0.1' : value.toFixed(value < 10 ? 1 : 0)} %`;
}
