import { Button, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { EmptyPanel, Loading } from '../../parts/loaded.tsx';
import { MineSwitch } from '../../parts/mine-switch.tsx';
import { Page } from '../../parts/page.tsx';
import { RecordingNotice } from '../../parts/recording-notice.tsx';
import { FindRequest } from './find-request.tsx';
import { requestColumns, toRowId } from './request-columns.tsx';
import { RequestFilters } from './request-filters.tsx';
import { readRequestQuery } from './request-query.ts';
import { useRequestLog } from './use-request-log.ts';

/** Shows the live log of requests. The filters are kept in the URL, so that a view can be shared. */
export function LogPage() {
  const [search, setSearch] = useSearchParams();
  const text = search.toString();
  // The span is counted back from the time at which the person chose it. Later requests are added.
  const query = useMemo(() => readRequestQuery(new URLSearchParams(text), Date.now()), [text]);
  const [isPaused, setPaused] = useState(false);
  const log = useRequestLog(query.apiQuery, isPaused);
  const { requests, error } = log;
  const changeFilters = (change: Record<string, string | undefined>): void =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(change)) {
          if (value === undefined) next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  return (
    <Page
      title="Requests"
      description="Finished requests, newest first, without their content."
      actions={<FindRequest />}
    >
      <RecordingNotice />
      <MineSwitch user={query.filters.user} onUser={(user) => changeFilters({ user })} />
      <RequestFilters query={query} onFilter={changeFilters} />
      <Group gap="sm">
        <Button variant="default" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Continue' : 'Pause'}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {isPaused ? 'Paused: new requests are not added.' : 'Live: new requests appear within two seconds.'}
        </Text>
      </Group>
      {error ? <Failure title="Could not load the requests" error={error} /> : null}
      {requests === undefined && !error ? <Loading contentName="the requests" /> : null}
      {requests?.length === 0 ? (
        <EmptyPanel title="No requests">
          {text === '' ? (
            <>
              Requests appear here a second after they end. Send one from the <Link href="/playground">playground</Link>
              .
            </>
          ) : (
            'No request matches the filters. Remove a filter, or choose a longer time.'
          )}
        </EmptyPanel>
      ) : null}
      <Stack gap="xs">
        {requests && requests.length > 0 ? (
          <DataList
            label="Requests"
            rows={requests}
            getId={toRowId}
            hasMore={log.hasEarlier}
            columns={requestColumns}
            actions={({ id }) => (
              <Link href={`/requests/${encodeURIComponent(id)}`} aria-label={`Details of ${id}`}>
                Details
              </Link>
            )}
          />
        ) : null}
        {log.hasEarlier ? (
          <Group justify="center">
            <Button
              variant="default"
              loading={log.isLoadingEarlier}
              onClick={() => {
                setPaused(true);
                log.showEarlier();
              }}
            >
              Show earlier requests
            </Button>
          </Group>
        ) : null}
      </Stack>
    </Page>
  );
}
