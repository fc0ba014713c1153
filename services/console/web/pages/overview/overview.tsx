import { Stack, Text, Title } from '@mantine/core';
import { Suspense } from 'react';
import { useSearchParams } from 'wouter';
import { useLive } from '../../api/live-store.ts';
import { createLazyCode } from '../../parts/lazy-code.tsx';
import { Loading } from '../../parts/loaded.tsx';
import { formatCount, formatDuration, formatShort } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import type {
  Failure,
  LiveWorkerFacts,
  Overview as OverviewFacts,
  RefusalCounts as Refused,
} from '../../../contract/live.ts';
import { LastErrors } from './last-errors.tsx';
import { NothingYet } from './nothing-yet.tsx';
import { OverviewSpans, readSpan } from './overview-spans.tsx';
import { RefusalTable } from './refusal-table.tsx';
import { Tile } from '../../parts/tile.tsx';
import { TierShares } from './tier-shares.tsx';

const { Code: SpanOverview } = createLazyCode(
  () => import('./span-overview.tsx'),
  ({ SpanOverview }) => SpanOverview,
);

export function Overview() {
  const [search] = useSearchParams();
  const span = readSpan(search);
  return (
    <Page
      title="Overview"
      description={
        span === undefined
          ? 'All requests of the last minute, second by second, on all ingress nodes.'
          : 'Requests that you may see, by when they began.'
      }
      actions={<OverviewSpans chosen={span} />}
    >
      {span === undefined ? (
        <CurrentState />
      ) : (
        <Suspense fallback={<Loading contentName="the overview" />}>
          <SpanOverview span={span} />
        </Suspense>
      )}
    </Page>
  );
}

function CurrentState() {
  const { overview, workers, failures, refused = [] } = useLive();
  if (!overview || !workers || !failures) return <Loading contentName="the overview" />;
  return <Numbers overview={overview} workers={workers} failures={failures} refused={refused} />;
}

interface NumbersProps {
  overview: OverviewFacts;
  workers: readonly LiveWorkerFacts[];
  failures: readonly Failure[];
  refused: readonly Refused[];
}

function Numbers({ overview, workers, failures, refused }: NumbersProps) {
  const { requestsPerSecond, tokensPerSecond, errorsPerSecond, firstTokenMs, activeStreams } = overview;
  const { servedByTier, queuedByTier, waiting } = overview;
  const servedCount = sum(Object.values(servedByTier));
  const modelWorkers = workers.filter(({ tier }) => tier !== 'tools');
  const errorCount = sum(errorsPerSecond);
  return (
    <Stack gap="sm">
      <div className="tiles tiles-three">
        <Tile
          name="Requests per second"
          value={formatShort(computeMeanOfLastSeconds(requestsPerSecond))}
          series={requestsPerSecond}
        >
          {formatCount(sum(requestsPerSecond))} in the last minute
        </Tile>
        <Tile
          name="Tokens per second"
          value={formatShort(computeMeanOfLastSeconds(tokensPerSecond))}
          series={tokensPerSecond}
        >
          {formatShort(sum(tokensPerSecond))} in the last minute
        </Tile>
        <Tile name="Time to first token" value={firstTokenMs ? formatDuration(firstTokenMs.p50) : '–'}>
          {firstTokenMs ? `p50; p95 ${formatDuration(firstTokenMs.p95)}` : 'no request in the last minute'}
        </Tile>
        <Tile name="Active streams" value={formatCount(activeStreams)}>
          {describeSlots(modelWorkers)}
        </Tile>
        <Tile name="Waiting" value={formatCount(waiting)}>
          {waiting === 0 ? 'no request is waiting' : 'requests in the queue'}
        </Tile>
        <Tile name="Errors" value={formatCount(errorCount)} series={errorsPerSecond} isBad={errorCount > 0}>
          in the last minute
        </Tile>
      </div>
      {servedCount === 0 && errorCount === 0 && failures.length === 0 ? (
        <section className="panel">
          <NothingYet hasWorkers={modelWorkers.length > 0} />
        </section>
      ) : (
        <div className="halves">
          <section className="panel">
            <Title order={2}>Served by</Title>
            <Text size="xs" c="dimmed" mb="sm">
              Requests of the last hour by tier, and how many are waiting
            </Text>
            <TierShares served={servedByTier} queued={queuedByTier} />
          </section>
          <section className="panel">
            <Title order={2} mb="xs">
              Last errors
            </Title>
            <LastErrors failures={failures} />
          </section>
        </div>
      )}
      {refused.length > 0 ? <RefusalTable refused={refused} /> : null}
    </Stack>
  );
}

/** Returns the mean of the last five seconds, which is steadier than a single value. */
function computeMeanOfLastSeconds(series: readonly number[]): number {
  return sum(series.slice(-5)) / 5;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function describeSlots(workers: readonly LiveWorkerFacts[]): string {
  const slots = sum(workers.map((worker) => worker.slots));
  const busy = sum(workers.map((worker) => worker.busy));
  return slots === 0 ? 'no worker is connected' : `${formatCount(busy)} of ${formatCount(slots)} slots busy`;
}
