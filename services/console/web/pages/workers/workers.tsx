import { Code, Stack, Text, Title } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { useLive } from '../../api/live-store.ts';
import { useIsAdmin } from '../../api/session.ts';
import { formatCount } from '../../parts/format.ts';
import { EmptyPanel, Loading } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Credentials } from './credentials.tsx';
import { emptySearch, findWorkers, type WorkerSearch } from './find-workers.ts';
import { GoneWorkers, useRefreshGone } from './gone-workers.tsx';
import { Queue } from './queue.tsx';
import { WorkerList } from './worker-list.tsx';
import { WorkerSearchFields } from './worker-search-fields.tsx';

export function Workers() {
  const { workers, queue } = useLive();
  const isAdmin = useIsAdmin();
  const [search, setSearch] = useState(emptySearch);
  useRefreshGone(workers);
  return (
    <Page title="Workers" description="All connected workers. Drain a worker before you stop its machine.">
      <WorkerSearchFields search={search} onChange={setSearch} />
      {workers ? <FoundWorkers workers={workers} search={search} /> : <Loading contentName="the workers" />}
      <Stack gap="xs">
        <Title order={2}>Queue</Title>
        {queue ? <Queue lanes={queue} /> : <Loading contentName="the queue" />}
      </Stack>
      <GoneWorkers search={search} />
      {isAdmin ? <Credentials /> : null}
    </Page>
  );
}

function FoundWorkers({ workers, search }: { workers: readonly LiveWorkerFacts[]; search: WorkerSearch }) {
  const foundWorkers = useMemo(() => findWorkers(workers, search), [workers, search]);
  if (workers.length === 0) {
    return (
      <EmptyPanel title="No worker is connected">
        Administrators add one below, on any machine. A worker with its own settings, <Code>rtr worker gpu</Code>,
        appears here within a second, too.
      </EmptyPanel>
    );
  }
  if (foundWorkers.length === 0) {
    return (
      <EmptyPanel title="No worker matches">
        None of the {formatCount(workers.length)} workers passes the filters.
      </EmptyPanel>
    );
  }
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed" role="status">
        {formatCount(foundWorkers.length)} of {formatCount(workers.length)}{' '}
        {workers.length === 1 ? 'worker' : 'workers'}
      </Text>
      <WorkerList workers={foundWorkers} />
    </Stack>
  );
}
