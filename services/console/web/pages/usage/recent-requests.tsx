import { Anchor, Button, Group, Modal, Select, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { purposes } from '#shared/core/purpose.ts';
import type { RequestPage, UsageRequest } from '../../../contract/usage.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { EmptyPanel, Loading } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/failure.tsx';
import { outcomeLabels, requestColumns, toRowId } from '../requests/request-columns.tsx';
import { RequestFacts } from './request-facts.tsx';

/**
 * Lists the requests of a span, newest first, each with its details.
 * @param baseQuery the API's query string, with the span and the filters
 */
export function RecentRequests({ baseQuery }: { baseQuery: string }) {
  const [outcome, setOutcome] = useState<string | null>(null);
  const [purpose, setPurpose] = useState<string | null>(null);
  const [requestToShow, setRequestToShow] = useState<UsageRequest>();
  const listFilters = { ...(outcome === null ? {} : { outcome }), ...(purpose === null ? {} : { purpose }) };
  // A choice in this list overrides the page's own filter.
  const allFilters = { ...Object.fromEntries(new URLSearchParams(baseQuery)), ...listFilters };
  const query = new URLSearchParams({ ...allFilters, limit: '50' }).toString();
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
          data={Object.entries(outcomeLabels).map(([value, label]) => ({ value, label }))}
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
        <Anchor component={Link} href={`/requests?${new URLSearchParams(allFilters)}`} size="sm">
          Live log
        </Anchor>
      </Group>
      {pages.error && !requests ? (
        <Failure title="Could not load the requests" error={pages.error} onRetry={() => void pages.refetch()} />
      ) : null}
      {requests === undefined && !pages.error ? <Loading contentName="the requests" /> : null}
      {requests?.length === 0 ? (
        <EmptyPanel title="No requests">
          Requests appear here a second after they end, without their content.
        </EmptyPanel>
      ) : null}
      {requests && requests.length > 0 ? (
        <DataList
          label="Recent requests"
          rows={requests}
          getId={toRowId}
          hasMore={pages.hasNextPage}
          columns={requestColumns}
          actions={(request) => (
            <Button
              size="xs"
              variant="default"
              aria-label={`Details of ${request.id}`}
              onClick={() => setRequestToShow(request)}
            >
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
      <Modal
        opened={requestToShow !== undefined}
        onClose={() => setRequestToShow(undefined)}
        title="Request details"
        size="lg"
      >
        {requestToShow ? <RequestFacts request={requestToShow} /> : null}
      </Modal>
    </Stack>
  );
}
