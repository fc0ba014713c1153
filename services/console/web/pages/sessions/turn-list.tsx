import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { AgentSessionTree, RunningTurn } from '../../../contract/agent-sessions.ts';
import type { UsageRequest } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatDuration, formatMoment, formatMoney } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { RequestFacts } from '../usage/request-facts.tsx';
import { nameAgent } from './session-figures.ts';
import { TimeBar, type TimeParts } from './time-bar.tsx';

/** Number of turns that are shown at first, and that each click adds. */
const pageSize = 50;

/** Maximum number of turns of an agent session that the router keeps. */
const maxKeptTurns = 500;

export interface TurnListProps {
  session: AgentSessionTree;
  everyMs: number;
}

/** Lists the running turns of an agent session, then its finished turns. Both lists begin with the newest turn. */
export function TurnList({ session, everyMs }: TurnListProps) {
  const [limit, setLimit] = useState(pageSize);
  const [turnToShow, setTurnToShow] = useState<UsageRequest>();
  const turns = useApi<{ data: UsageRequest[]; next?: string }>(`/agent-sessions/${session.id}/turns?limit=${limit}`, {
    everyMs,
  });
  const findAgentName = (id: string | undefined): string =>
    id === undefined ? 'Main agent' : nameAgent(session.tree.find((agent) => agent.id === id) ?? { id });
  return (
    <Stack gap="xs">
      <RunningTurns turns={session.running} findAgentName={findAgentName} />
      <Loaded query={turns} contentName="the turns">
        {({ data, next }) => (
          <Stack gap="xs">
            {data.length === 0 ? (
              <EmptyPanel title="No single turns">
                {session.sums.requests === 0
                  ? 'A turn appears here a second after its end.'
                  : 'The usage ledger no longer keeps the single turns of this session, only their sums.'}
              </EmptyPanel>
            ) : (
              <FinishedTurns
                turns={data}
                findAgentName={findAgentName}
                onShow={setTurnToShow}
                hasMore={next !== undefined}
              />
            )}
            {next !== undefined && limit < maxKeptTurns ? (
              <Group justify="center">
                <Button variant="default" onClick={() => setLimit(limit + pageSize)}>
                  Show earlier turns
                </Button>
              </Group>
            ) : null}
          </Stack>
        )}
      </Loaded>
      <Modal
        opened={turnToShow !== undefined}
        onClose={() => setTurnToShow(undefined)}
        title="Request details"
        size="lg"
      >
        {turnToShow ? <RequestFacts request={turnToShow} /> : null}
      </Modal>
    </Stack>
  );
}

interface AgentNames {
  findAgentName: (id: string | undefined) => string;
}

function FinishedTurns({
  turns,
  findAgentName,
  onShow,
  hasMore,
}: AgentNames & { turns: readonly UsageRequest[]; onShow: (turn: UsageRequest) => void; hasMore: boolean }) {
  const longestMs = Math.max(...turns.map((turn) => sumTime(splitTime(turn))));
  return (
    <DataList
      label="Turns"
      rows={turns}
      getId={({ id, at }) => `${id} ${at}`}
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
          render: ({ turn, purpose }) => <AgentCell name={findAgentName(turn?.agent)} purpose={purpose} />,
          sortBy: ({ turn, purpose = '' }) => `${findAgentName(turn?.agent)} ${purpose}`,
        },
        {
          label: 'Model',
          render: (turn) => <ModelCell turn={turn} />,
          sortBy: ({ asked, model = asked }) => model,
          search: ({ id, asked, model = asked, rule, outcome, code }) => [id, model, rule, outcome, code].join(' '),
        },
        {
          label: 'Where the time went',
          render: (turn) => <TimeCell turn={turn} longestMs={longestMs} />,
          sortBy: (turn) => sumTime(splitTime(turn)),
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
          sortBy: ({ cachedTokens }) => cachedTokens,
          format: formatCount,
          isNumber: true,
          wideOnly: true,
        },
        { label: 'Cost', sortBy: ({ cost }) => cost, format: formatMoney, isNumber: true },
      ]}
      actions={(turn) => (
        <Button size="xs" variant="default" aria-label={`Details of ${turn.id}`} onClick={() => onShow(turn)}>
          Details
        </Button>
      )}
    />
  );
}

function RunningTurns({ turns, findAgentName }: AgentNames & { turns: readonly RunningTurn[] }) {
  if (turns.length === 0) return null;
  return (
    <ul className="panel panel-flush cards" aria-label="Running turns">
      {turns.toReversed().map(({ request, agent, since, model }) => (
        <li key={request}>
          <Group gap="sm">
            <Badge variant="dot" color={model === undefined ? 'yellow' : 'green'}>
              {model === undefined ? 'Waiting' : 'Running'}
            </Badge>
            <Text size="sm">{findAgentName(agent)}</Text>
            <Text size="sm" c="dimmed">
              {model === undefined ? 'for a worker' : `on ${model}`}, {formatDuration(Math.max(0, Date.now() - since))}
            </Text>
          </Group>
        </li>
      ))}
    </ul>
  );
}

function AgentCell({ name, purpose }: { name: string; purpose: string | undefined }) {
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

function ModelCell({ turn: { asked, model, rule, outcome, code } }: { turn: UsageRequest }) {
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
          title={code === undefined ? undefined : `${code}: ${toErrorSentence(code)}`}
        >
          {outcome === 'failed' ? 'Failed' : 'Cancelled'}
        </Badge>
      )}
    </div>
  );
}

function TimeCell({ turn, longestMs }: { turn: UsageRequest; longestMs: number }) {
  const time = splitTime(turn);
  const tools = turn.turn?.tools?.longest.map(({ name, ms }) => `${name} ${formatDuration(ms)}`).join(', ');
  return (
    <div style={{ minWidth: '10rem' }}>
      <TimeBar time={time} widthMs={longestMs} />
      <Text size="xs" c="dimmed">
        {[tools, formatDuration(time.queueMs + time.modelMs)].filter((part) => part !== undefined).join(' · ')}
      </Text>
    </div>
  );
}

function splitTime({ turn, queueMs, totalMs }: UsageRequest): TimeParts {
  const queue = Math.min(totalMs, queueMs ?? totalMs);
  return { toolMs: turn?.tools?.ms, queueMs: queue, modelMs: totalMs - queue };
}

function sumTime({ toolMs = 0, queueMs, modelMs }: TimeParts): number {
  return toolMs + queueMs + modelMs;
}
