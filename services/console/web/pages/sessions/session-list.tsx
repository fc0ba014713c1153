import { Anchor, Badge, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { AgentSession } from '../../../contract/agent-sessions.ts';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatCount, formatDateTime } from '../../parts/format.ts';
import { listModelNames, programNames, shortenId } from './session-figures.ts';
import { createSumColumns } from './sum-columns.tsx';

export interface SessionListProps {
  sessions: readonly AgentSession[];
  showsOwners: boolean;
  hasMore: boolean;
}

const { turns, tokens, hits, cost } = createSumColumns<AgentSession>(({ sums }) => sums);

export function SessionList({ sessions, showsOwners, hasMore }: SessionListProps) {
  const ownerColumn: Column<AgentSession> = { label: 'Owner', sortBy: ({ owner: { name } }) => name };
  return (
    <DataList
      label="Agent sessions"
      rows={sessions}
      getId={({ id }) => id}
      columns={[
        {
          label: 'Session',
          render: (session) => <SessionName session={session} />,
          sortBy: ({ program, name }) => `${programNames[program]} ${name}`,
          search: ({ program, name, key }) => `${programNames[program]} ${name} ${key.name}`,
        },
        {
          label: 'State',
          render: (session) => <SessionState session={session} />,
          sortBy: ({ running }) => running.length,
          search: ({ running }) => (running.length > 0 ? 'Running' : 'Idle'),
        },
        ...(showsOwners ? [ownerColumn] : []),
        {
          label: 'Models',
          render: (session) => <span className="break">{listModelNames(session)}</span>,
          sortBy: listModelNames,
        },
        turns,
        { label: 'Agents', sortBy: ({ agents }) => agents, format: formatCount, isNumber: true },
        tokens,
        hits,
        cost,
        {
          label: 'Last turn',
          render: ({ lastAt }) => <span title={formatDateTime(lastAt)}>{formatAgo(lastAt)}</span>,
          sortBy: ({ lastAt }) => lastAt,
        },
      ]}
      address=""
      hasMore={hasMore}
    />
  );
}

function SessionName({ session: { id, name, program, key } }: { session: AgentSession }) {
  return (
    <div>
      <Anchor component={Link} href={`/sessions/${id}`} size="sm" fw={600} title={name}>
        {programNames[program]} {shortenId(name)}
      </Anchor>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {key.name}
      </Text>
    </div>
  );
}

export function SessionState({ session: { running } }: { session: Pick<AgentSession, 'running'> }) {
  if (running.length === 0)
    return (
      <Badge variant="dot" color="gray">
        Idle
      </Badge>
    );
  return (
    <Badge variant="dot" color="green">
      {running.length === 1 ? 'Running' : `${running.length} running`}
    </Badge>
  );
}
