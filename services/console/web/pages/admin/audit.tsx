import { Button, Code, Group, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import type { User } from '../../../contract/people.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Downloads } from '../../parts/downloads.tsx';
import { Empty, Loading } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatDateTime } from '../../parts/format.ts';

interface AuditPage {
  data: AuditEntry[];
  next?: string;
}

const actionLabels = {
  'key.*': 'Keys',
  'user.*': 'People',
  'team.*': 'Teams',
  'invitation.*': 'Invitations',
  'session.*': 'Sessions',
  'second-factor.*': 'Second factors',
  'program.*': 'Programs',
  'token.*': 'Admin tokens',
  'settings.*': 'Settings',
  'price.*': 'Prices',
  'registry.*': 'Registry',
  'worker.*': 'Workers',
  'credential.*': 'Credentials of workers',
  'webhook.*': 'Webhooks',
  'batch.*': 'Batches',
  'file.*': 'Files',
  'background.*': 'Background work',
};

const dayMs = 86_400_000;
const spanLabels = { all: 'All', day: '24 hours', week: '7 days', month: '30 days' } as const;
const spanMs: Record<keyof typeof spanLabels, number | undefined> = {
  all: undefined,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
};

export function Audit() {
  const people = useApi<User[]>('/users');
  const [params, setParams] = useSearchParams();
  const [actor, action] = [params.get('actor'), params.get('action')];
  const requestedSpan = params.get('time') ?? 'all';
  const span = requestedSpan in spanLabels ? (requestedSpan as keyof typeof spanLabels) : 'all';
  // The span is counted back from the time at which the person chose it.
  const startTime = useMemo(() => computeStartTime(span, Date.now()), [span]);
  // Each choice is an entry of the browser's history, so that Back undoes it.
  const setFilter = (name: 'actor' | 'action' | 'time', value: string | null): void =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  const filters = new URLSearchParams({
    ...(actor !== null && { actor }),
    ...(action !== null && { action }),
    ...(startTime !== undefined && { from: String(startTime) }),
  });
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <Select
          label="Actor"
          placeholder="Everybody"
          data={(people.data ?? []).map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` }))}
          value={actor}
          clearable
          searchable
          onChange={(chosen) => setFilter('actor', chosen)}
        />
        <Select
          label="Action"
          placeholder="All"
          data={Object.entries(actionLabels).map(([value, label]) => ({ value, label }))}
          value={action}
          clearable
          onChange={(chosen) => setFilter('action', chosen)}
        />
        <Select
          label="Time"
          w="9rem"
          data={Object.entries(spanLabels).map(([value, label]) => ({ value, label }))}
          value={span}
          allowDeselect={false}
          onChange={(chosen) => setFilter('time', chosen === 'all' ? null : chosen)}
        />
        {filters.size > 0 ? (
          <Button variant="default" onClick={() => setParams({})}>
            Reset
          </Button>
        ) : null}
        <Downloads name="audit" path="/audit/export" filters={filters.toString()} />
      </Group>
      <Entries filters={filters.toString()} />
    </Stack>
  );
}

function computeStartTime(span: keyof typeof spanLabels, now: number): number | undefined {
  const ms = spanMs[span];
  return ms === undefined ? undefined : now - ms;
}

function Entries({ filters }: { filters: string }) {
  const pages = useInfiniteQuery<AuditPage, ApiFailure, { pages: AuditPage[] }, string[], string | undefined>({
    queryKey: ['/audit', filters],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams(filters);
      if (pageParam !== undefined) query.set('cursor', pageParam);
      return callApi<AuditPage>('GET', `/audit?${query}`, undefined, signal);
    },
    initialPageParam: undefined,
    getNextPageParam: ({ next }) => next,
  });
  const entries = pages.data?.pages.flatMap(({ data }) => data);
  if (pages.error && !entries)
    return <Failure title="Could not load the audit trail" error={pages.error} onRetry={() => void pages.refetch()} />;
  if (!entries) return <Loading contentName="the audit trail" />;
  if (entries.length === 0 && !pages.hasNextPage) {
    return (
      <section className="panel">
        {filters === '' ? (
          <Empty title="No changes yet">Every change of people, teams, keys, limits and prices is recorded here.</Empty>
        ) : (
          <Empty title="No such changes">Nothing in the trail passes these filters.</Empty>
        )}
      </section>
    );
  }
  return (
    <Stack gap="xs">
      <DataList
        label="Audit trail"
        rows={entries}
        getId={({ id }) => id}
        hasMore={pages.hasNextPage}
        columns={[
          { label: 'Time', render: ({ at }) => formatDateTime(at) },
          { label: 'Actor', render: (entry) => <Actor entry={entry} /> },
          {
            label: 'Action',
            render: ({ action, count }) => <Code>{count === undefined ? action : `${action} × ${count}`}</Code>,
          },
          {
            label: 'Target',
            render: ({ target }) => <span className="break">{target ? target.name || target.id : ''}</span>,
          },
          { label: 'Details', render: ({ details }) => <Details details={details} /> },
        ]}
      />
      {pages.hasNextPage ? (
        <Group justify="center">
          <Button variant="default" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Show earlier entries
          </Button>
        </Group>
      ) : null}
    </Stack>
  );
}

function Actor({ entry: { actor, from = {} } }: { entry: AuditEntry }) {
  const { address, session, commandLine, token } = from;
  const tokenMaker = commandLine === undefined ? '' : ` of ${commandLine}`;
  const addressOrToken = token === undefined ? address : `${address ?? ''} with the token ${token.name}${tokenMaker}`;
  const origin = commandLine === undefined || token !== undefined ? addressOrToken : `rtr, ${commandLine}`;
  return (
    <div>
      <span className="break">{actor?.name ?? 'nobody'}</span>
      {origin === undefined ? null : (
        <Text size="xs" c="dimmed" className="break" title={session === undefined ? undefined : `Session ${session}`}>
          {origin}
        </Text>
      )}
    </div>
  );
}

function Details({ details }: Pick<AuditEntry, 'details'>) {
  const facts = Object.entries(details);
  return (
    <Text size="xs" className="break">
      {facts.map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`).join(', ')}
    </Text>
  );
}
