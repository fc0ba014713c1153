import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { AgentSessionTree } from '../../../contract/agent-sessions.ts';
import { useApi } from '../../api/use-api.ts';
import { formatCount, formatDateTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { AgentTree } from './agent-tree.tsx';
import { ModelTable } from './model-table.tsx';
import { programNames } from './session-figures.ts';
import { SessionState } from './session-list.tsx';
import { SumsView } from './sums-view.tsx';
import { TurnList } from './turn-list.tsx';

/** Milliseconds between two fetches while turns run. */
const fetchEveryMs = 1_000;

/** Milliseconds between two fetches while no turn runs. */
const fetchIdleEveryMs = 3_000;

function chooseFetchInterval(session: AgentSessionTree | undefined): number {
  return session && session.running.length > 0 ? fetchEveryMs : fetchIdleEveryMs;
}

export function SessionPage({ id }: { id: string }) {
  const query = useApi<AgentSessionTree>(`/agent-sessions/${encodeURIComponent(id)}`, { everyMs: chooseFetchInterval });
  return (
    <Page title="Agent session">
      <Anchor component={Link} href="/sessions" size="sm">
        All agent sessions
      </Anchor>
      <Loaded query={query} contentName="the session">
        {(session) => <LoadedSession session={session} />}
      </Loaded>
    </Page>
  );
}

function LoadedSession({ session }: { session: AgentSessionTree }) {
  const { name, program, owner, key, startedAt, sums, models } = session;
  return (
    <Stack gap="md">
      <section className="panel">
        <Group gap="sm" mb={4}>
          <Text fw={600}>{programNames[program]}</Text>
          <SessionState session={session} />
        </Group>
        <Text size="sm" className="break">
          <code>{name}</code>
        </Text>
        <Text size="sm" c="dimmed" className="break">
          {owner.name}
          {owner.kind === 'team' ? ' (team)' : ''}, {owner.kind === 'key' ? 'router key' : `key ${key.name}`} · since{' '}
          {formatDateTime(startedAt)}
        </Text>
      </section>
      <SumsView
        sums={sums}
        countTile={{
          name: 'Turns',
          count: sums.requests,
          detail: `${formatCount(sums.failed)} failed, ${formatCount(session.agents)} agents started`,
        }}
      />
      <Stack gap="xs">
        <Title order={2}>Agents</Title>
        <AgentTree session={session} />
      </Stack>
      {models.length === 0 ? null : (
        <Stack gap="xs">
          <Title order={2}>Models</Title>
          <ModelTable models={models} label="Models" />
        </Stack>
      )}
      <Stack gap="xs">
        <Title order={2}>Turns</Title>
        <TurnList session={session} everyMs={chooseFetchInterval(session)} />
      </Stack>
    </Stack>
  );
}
