import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { AgentSessionTree, RunningTurn } from '../../../contract/agent-sessions.ts';
import type { UsageRequest } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { errorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatDuration, formatMoment, formatMoney } from '../../parts/format.ts';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { RequestFacts } from '../usage/request-facts.tsx';
import { agentName } from './session-figures.ts';
import { TimeBar, type SpentTime } from './time-bar.tsx';

/** The number of turns that are shown at first, and that each click adds. */
const pageSize = 50;

/** The router keeps at most this many turns of an agent session. */
const maxKept = 500;

export interface TurnListProps {
  session: AgentSessionTree;
  everyMs: number;
}

/** Lists the running turns of an agent session and then the finished ones, each newest first. */
export function TurnList({ session, everyMs }: TurnListProps) {
  const [limit, setLimit] = useState(pageSize);
  const [chosen, choose] = useState<UsageRequest>();
  const turns = useApi<{ data: UsageRequest[]; next?: string }>(`/agent-sessions/${session.id}/turns?limit=${limit}`, {
    everyMs,
  });
  const nameOf = (id: string | undefined): string =>
    id === undefined ? 'Main agent' : agentName(session.tree.find((agent) => agent.id === id) ?? { id });
  return (
    <Stack gap="xs">
      <RunningTurns turns={session.running} nameOf={nameOf} />
      <Loaded query={turns} contentName="the turns">
        {({ data, next }) => (
          <Stack gap="xs">
            {data.length === 0 ? (
              <section className="panel">
                <Empty title="No single turns">
                  {session.sums.requests === 0
                    ? 'A turn appears here a second after it is over.'
                    : 'The usage ledger does not keep them any more: only their sums.'}
                </Empty>
              </section>
            ) : (
              <Turns turns={data} nameOf={nameOf} choose={choose} hasMore={next !== undefined} />
            )}
            {next !== undefined && limit < maxKept ? (
              <Group justify="center">
                <Button variant="default" onClick={() => setLimit(limit + pageSize)}>
                  Show earlier turns
                </Button>
              </Group>
            ) : null}
          </Stack>
        )}
      </Loaded>
      <Modal opened={chosen !== undefined} onClose={() => choose(undefined)} title="Request details" size="lg">
        {chosen ? <RequestFacts request={chosen} /> : null}
      </Modal>
    </Stack>
  );
}

interface NamedAgents {
  nameOf: (id: string | undefined) => string;
}

function Turns({
  turns,
  nameOf,
  choose,
  hasMore,
}: NamedAgents & { turns: readonly UsageRequest[]; choose: (turn: UsageRequest) => void; hasMore: boolean }) {
  const longest = Math.max(...turns.map((turn) => totalOf(spentIn(turn))));
  return (
    <DataList
      label="Turns"
      rows={turns}
      idOf={({ id, at }) => `${id} ${at}`}
      address="turns"
      hasMore={hasMore}
      columns={[
        {
          label: 'Time',
          render: ({ at }) => <span title={formatDateTime(at)}>{formatMoment(at)}</span>,
          sortBy: ({ at }) => at,
        },
        {
          label: 'Agent',
          render: ({ turn, purpose }) => <Agent name={nameOf(turn?.agent)} purpose={purpose} />,
          sortBy: ({ turn, purpose = '' }) => `${nameOf(turn?.agent)} ${purpose}`,
        },
        {
          label: 'Model',
          render: (turn) => <Model turn={turn} />,
          sortBy: ({ asked, model = asked }) => model,
          search: ({ id, asked, model = asked, rule, outcome, code }) => [id, model, rule, outcome, code].join(' '),
        },
        {
          label: 'Where the time went',
          render: (turn) => <Time turn={turn} longest={longest} />,
          sortBy: (turn) => totalOf(spentIn(turn)),
          search: ({ turn }) => turn?.tools?.longest.map(({ name }) => name).join(' ') ?? '',
        },
        {
          label: 'Tokens',
          render: ({ promptTokens, completionTokens }) =>
            `${formatCount(promptTokens)} → ${formatCount(completionTokens)}`,
          sortBy: ({ promptTokens, completionTokens }) => promptTokens + completionTokens,
          isNumber: true,
        },
        {
          label: 'Cached',
          render: ({ cachedTokens }) => formatCount(cachedTokens),
          sortBy: ({ cachedTokens }) => cachedTokens,
          isNumber: true,
          wideOnly: true,
        },
        { label: 'Cost', render: ({ cost }) => formatMoney(cost), sortBy: ({ cost }) => cost, isNumber: true },
      ]}
      actions={(turn) => (
        <Button size="xs" variant="default" aria-label={`Details of ${turn.id}`} onClick={() => choose(turn)}>
          Details
        </Button>
      )}
    />
  );
}

function RunningTurns({ turns, nameOf }: NamedAgents & { turns: readonly RunningTurn[] }) {
  if (turns.length === 0) return null;
  return (
    <ul className="panel panel-flush cards" aria-label="Running turns">
      {turns.toReversed().map(({ request, agent, since, model }) => (
        <li key={request}>
          <Group gap="sm">
            <Badge variant="dot" color={model === undefined ? 'yellow' : 'green'}>
              {model === undefined ? 'Waiting' : 'Running'}
            </Badge>
            <Text size="sm">{nameOf(agent)}</Text>
            <Text size="sm" c="dimmed">
              {model === undefined ? 'for a worker' : `on ${model}`}, {formatDuration(Math.max(0, Date.now() - since))}
            </Text>
          </Group>
        </li>
      ))}
    </ul>
  );
}

function Agent({ name, purpose }: { name: string; purpose: string | undefined }) {
  return (
    <div>
      <Text size="sm">{name}</Text>
      {purpose === undefined || purpose === 'main' || purpose === 'subagent' ? null : (
        <Text size="xs" c="dimmed">
          {purpose}
        </Text>
      )}
    </div>
  );
}

function Model({ turn: { asked, model, rule, outcome, code } }: { turn: UsageRequest }) {
  return (
    <div>
      <Text size="sm" className="break">
        {model ?? asked}
      </Text>
      {rule === undefined ? null : (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          by {rule}
        </Text>
      )}
      {outcome === 'done' ? null : (
        <Badge
          variant="dot"
          color={outcome === 'failed' ? 'red' : 'gray'}
          title={code === undefined ? undefined : `${code}: ${errorSentence(code)}`}
        >
          {outcome === 'failed' ? 'Failed' : 'Cancelled'}
        </Badge>
      )}
    </div>
  );
}

function Time({ turn, longest }: { turn: UsageRequest; longest: number }) {
  const time = spentIn(turn);
  const tools = turn.turn?.tools?.longest.map(({ name, ms }) => `${name} ${formatDuration(ms)}`).join(', ');
  return (
    <div style={{ minWidth: '10rem' }}>
      <TimeBar time={time} widthMs={longest} />
      <Text size="xs" c="dimmed">
        {[tools, formatDuration(time.queueMs + time.modelMs)].filter((part) => part !== undefined).join(' · ')}
      </Text>
    </div>
  );
}

function spentIn({ turn, queueMs, totalMs }: UsageRequest): SpentTime {
  const queue = Math.min(totalMs, queueMs ?? totalMs);
  return { toolMs: turn?.tools?.ms, queueMs: queue, modelMs: totalMs - queue };
}

function totalOf({ toolMs = 0, queueMs, modelMs }: SpentTime): number {
  return toolMs + queueMs + modelMs;
}
