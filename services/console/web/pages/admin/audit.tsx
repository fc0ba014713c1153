import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditEntry } from '../../../contract/account.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Empty, Loading } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatDateTime } from '../../parts/format.ts';

/** Entries of a full page; a shorter page is the last one. */
const pageSize = 100;

/** The audit trail, newest first. */
export function Audit() {
  const pages = useInfiniteQuery<AuditEntry[], ApiFailure, { pages: AuditEntry[][] }, string[], string | undefined>({
    queryKey: ['/audit'],
    queryFn: ({ pageParam, signal }) =>
      callApi<AuditEntry[]>(
        'GET',
        pageParam === undefined ? '/audit' : `/audit?before=${encodeURIComponent(pageParam)}`,
        undefined,
        signal,
      ),
    initialPageParam: undefined,
    getNextPageParam: (page) => (page.length < pageSize ? undefined : page.at(-1)?.id),
  });
  const entries = pages.data?.pages.flat();
  if (pages.error && !entries)
    return <Failure title="Could not load the audit trail" error={pages.error} onRetry={() => void pages.refetch()} />;
  if (!entries) return <Loading what="the audit trail" />;
  if (entries.length === 0) {
    return (
      <section className="panel">
        <Empty title="No changes yet">Every change of people, teams, keys, limits and prices is recorded here.</Empty>
      </section>
    );
  }
  return (
    <Stack gap="xs">
      <DataList
        label="Audit trail"
        rows={entries}
        idOf={({ id }) => id}
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

/** Who it was, and where the change came from. */
function Actor({ entry: { actor, from = {} } }: { entry: AuditEntry }) {
  const { address, session, commandLine } = from;
  const where = commandLine === undefined ? address : `rtr, ${commandLine}`;
  return (
    <div>
      <span className="break">{actor?.name ?? 'nobody'}</span>
      {where === undefined ? null : (
        <Text size="xs" c="dimmed" className="break" title={session === undefined ? undefined : `Session ${session}`}>
          {where}
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
