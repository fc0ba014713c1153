import { Badge, Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { purposes } from '#shared/core/purpose.ts';
import type { UsageRequest } from '../../../contract/usage.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Empty, Loading } from '../../parts/loaded.tsx';
import { errorSentence } from '../../parts/error-sentence.ts';
import { Failure } from '../../parts/failure.tsx';
import { formatCount, formatDateTime, formatDuration, formatMoment, formatMoney } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';
import { RequestFacts } from './request-facts.tsx';
import type { UsageQuery } from './usage-query.ts';

interface RequestPage {
  requests: UsageRequest[];
  next?: string;
}

const outcomes = { done: 'Served', failed: 'Failed', cancelled: 'Cancelled' } as const;
const outcomeColours = { done: 'green', failed: 'red', cancelled: 'gray' } as const;

/** Single requests, newest first, each with its details. */
export function RecentRequests({ filters }: Pick<UsageQuery, 'filters'>) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const [purpose, setPurpose] = useState<string | null>(null);
  const [chosen, choose] = useState<UsageRequest>();
  const chosenOnes = { ...(outcome === null ? {} : { outcome }), ...(purpose === null ? {} : { purpose }) };
  // What is chosen here comes before the page's own filter.
  const query = new URLSearchParams({ limit: '50', ...filters, ...chosenOnes }).toString();
  const pages = useInfiniteQuery<RequestPage, ApiFailure, { pages: RequestPage[] }, string[], string | undefined>({
    queryKey: ['/usage/requests', query],
    queryFn: ({ pageParam, signal }) =>
      callApi<RequestPage>(
        'GET',
        `/usage/requests?${query}${pageParam === undefined ? '' : `&before=${encodeURIComponent(pageParam)}`}`,
        undefined,
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) => (state.data && state.data.pages.length > 1 ? false : 10_000),
  });
  const requests = pages.data?.pages.flatMap((page) => page.requests);
  return (
    <Stack gap="xs">
      <Group>
        <Select
          aria-label="Outcome"
          placeholder="All outcomes"
          clearable
          clearButtonProps={{ 'aria-label': 'Show all outcomes' }}
          w="11rem"
          data={Object.entries(outcomes).map(([value, label]) => ({ value, label }))}
          value={outcome}
          onChange={setOutcome}
        />
        <Select
          aria-label="Purpose"
          placeholder="All purposes"
          clearable
          clearButtonProps={{ 'aria-label': 'Show all purposes' }}
          w="11rem"
          data={[...purposes]}
          value={purpose}
          onChange={setPurpose}
        />
      </Group>
      {pages.error && !requests ? (
        <Failure title="Could not load the requests" error={pages.error} onRetry={() => void pages.refetch()} />
      ) : null}
      {requests === undefined && !pages.error ? <Loading what="the requests" /> : null}
      {requests?.length === 0 ? (
        <section className="panel">
          <Empty title="No requests">Requests appear here a second after they end, without their content.</Empty>
        </section>
      ) : null}
      {requests && requests.length > 0 ? (
        <DataList
          label="Recent requests"
          rows={requests}
          idOf={({ id, at }) => `${id} ${at}`}
          columns={[
            { label: 'Time', render: ({ at }) => <span title={formatDateTime(at)}>{formatMoment(at)}</span> },
            { label: 'Model', render: (request) => <Model request={request} /> },
            { label: 'Key', render: ({ key }) => <span className="break">{key.name}</span> },
            { label: 'Outcome', render: (request) => <Outcome request={request} /> },
            {
              label: 'First token',
              render: ({ firstTokenMs: ms }) => (ms === undefined ? '–' : formatDuration(ms)),
              isNumber: true,
            },
            { label: 'Total', render: ({ totalMs }) => formatDuration(totalMs), isNumber: true },
            {
              label: 'Tokens',
              render: ({ promptTokens, completionTokens }) =>
                `${formatCount(promptTokens)} → ${formatCount(completionTokens)}`,
              isNumber: true,
            },
            { label: 'Cost', render: ({ cost }) => formatMoney(cost), isNumber: true },
          ]}
          actions={(request) => (
            <Button size="xs" variant="default" aria-label={`Details of ${request.id}`} onClick={() => choose(request)}>
              Details
            </Button>
          )}
        />
      ) : null}
      {pages.hasNextPage ? (
        <Group justify="center">
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show earlier requests
          </Button>
        </Group>
      ) : null}
      <Modal opened={chosen !== undefined} onClose={() => choose(undefined)} title="Request details" size="lg">
        {chosen ? <RequestFacts request={chosen} /> : null}
      </Modal>
    </Stack>
  );
}

function Model({ request: { asked, purpose, model, tier } }: { request: UsageRequest }) {
  return (
    <div>
      <Text size="sm" className="break">
        {model ?? asked}
      </Text>
      <Text size="xs" c="dimmed">
        {[model !== undefined && model !== asked ? `asked for ${asked}` : undefined, purpose, tier && tierNames[tier]]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </Text>
    </div>
  );
}

function Outcome({ request: { outcome, code } }: { request: UsageRequest }) {
  return (
    <Badge
      variant="dot"
      color={outcomeColours[outcome]}
      title={code === undefined ? undefined : `${code}: ${errorSentence(code)}`}
    >
      {outcomes[outcome]}
    </Badge>
  );
}
