import { Badge, Group, Text } from '@mantine/core';
import { sortAsTree } from '#shared/core/sort-as-tree.ts';
import type { AgentSessionTree, SessionAgent } from '../../../contract/agent-sessions.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { nameAgent, formatCacheHits } from './session-figures.ts';
import { TimeBar } from './time-bar.tsx';

interface AgentRow {
  agent: SessionAgent;
  /** 0 for the main agent, which talks to the person. */
  depth: number;
  isRunning: boolean;
}

/** Shows the agents of a session as a tree, each with the sums of its own turns. */
export function AgentTree({ session: { main, tree, running } }: { session: AgentSessionTree }) {
  const runningAgents = new Set(running.map(({ agent }) => agent));
  const rows: AgentRow[] = [
    { agent: { sums: main }, depth: 0, isRunning: runningAgents.has(undefined) },
    ...sortAsTree(tree).map(({ item: agent, depth }) => ({
      agent,
      depth: depth + 1,
      isRunning: agent.id !== undefined && runningAgents.has(agent.id),
    })),
  ];
  return (
    <DataList
      label="Agents"
      rows={rows}
      getId={({ agent: { id = '' }, depth }) => `${depth} ${id}`}
      columns={[
        { label: 'Agent', render: (row) => <AgentName row={row} /> },
        { label: 'Turns', render: ({ agent: { sums } }) => formatCount(sums.requests), isNumber: true },
        {
          label: 'Tokens',
          render: ({ agent: { sums } }) => `${formatShort(sums.promptTokens)} → ${formatShort(sums.completionTokens)}`,
          isNumber: true,
        },
        { label: 'Cache hits', render: ({ agent: { sums } }) => formatCacheHits(sums), isNumber: true },
        { label: 'Cost', render: ({ agent: { sums } }) => formatMoney(sums.cost), isNumber: true },
        { label: 'Time', render: ({ agent: { sums } }) => <TimeBar time={sums} /> },
      ]}
    />
  );
}

function AgentName({ row: { agent, depth, isRunning } }: { row: AgentRow }) {
  return (
    <Group gap="xs" wrap="nowrap" style={{ paddingInlineStart: `${Math.min(depth, 6) * 1.25}rem` }}>
      {depth === 0 ? null : (
        <Text span c="dimmed" aria-hidden="true">
          └
        </Text>
      )}
      <Text size="sm" fw={depth === 0 ? 600 : 400} title={agent.id}>
        {depth === 0 ? 'Main agent' : nameAgent(agent)}
      </Text>
      {isRunning ? (
        <Badge variant="dot" color="green">
          Running
        </Badge>
      ) : null}
    </Group>
  );
}
