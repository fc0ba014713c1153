import { Stack, Text, Title } from '@mantine/core';
import type { AgentSessionSums } from '../../../contract/agent-sessions.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { Tile } from '../../parts/tile.tsx';
import { ModelTable } from './model-table.tsx';
import { cacheHits } from './session-figures.ts';
import { TimeBar, TimeLegend } from './time-bar.tsx';

const lookEveryMs = 15_000;

/** What the sessions of an owner came to in the days that are kept; without a filter, those of each team. */
export function OwnerSums({ filter }: { filter: string }) {
  const { data = [] } = useApi<AgentSessionSums[]>(`/agent-sessions/sums?${filter}`, { everyMs: lookEveryMs });
  const [only] = data;
  if (!only) return null;
  return filter === '' ? <ByTeam sums={data} /> : <OfOne of={only} />;
}

function OfOne({ of: { sessions, agents, sums, models, keys } }: { of: AgentSessionSums }) {
  return (
    <Stack gap="xs">
      <div className="tiles">
        <Tile name="Sessions" value={formatCount(sessions)}>
          {formatCount(sums.requests)} turns, {formatCount(agents)} agents started
        </Tile>
        <Tile name="Tokens in" value={formatShort(sums.promptTokens)}>
          {cacheHits(sums)} from a cache
        </Tile>
        <Tile name="Tokens out" value={formatShort(sums.completionTokens)}>
          {formatShort(sums.reasoningTokens)} of them thinking
        </Tile>
        <Tile name="Cost" value={formatMoney(sums.cost)}>
          by the price table
        </Tile>
      </div>
      <section className="panel">
        <Title order={2} size="h3" mb="xs">
          Where the time went
        </Title>
        <TimeBar time={sums} />
        <TimeLegend time={{ ...sums, toolMs: sums.toolMs === 0 ? undefined : sums.toolMs }} />
      </section>
      <div className="halves">
        <ModelTable models={models} label="Models of the sessions" />
        {keys.length < 2 ? null : (
          <DataList
            label="Keys of the sessions"
            rows={keys}
            idOf={({ key }) => key.id}
            columns={[
              {
                label: 'Key',
                render: ({ key }) => <span className="break">{key.name}</span>,
                sortBy: ({ key }) => key.name,
              },
              {
                label: 'Turns',
                render: ({ sums: ofKey }) => formatCount(ofKey.requests),
                sortBy: ({ sums: ofKey }) => ofKey.requests,
                isNumber: true,
              },
              {
                label: 'Cost',
                render: ({ sums: ofKey }) => formatMoney(ofKey.cost),
                sortBy: ({ sums: ofKey }) => ofKey.cost,
                isNumber: true,
              },
            ]}
          />
        )}
      </div>
    </Stack>
  );
}

function ByTeam({ sums: all }: { sums: readonly AgentSessionSums[] }) {
  return (
    <Stack gap="xs">
      <Title order={2}>Teams</Title>
      <DataList
        label="Sessions by team"
        address="teams"
        rows={all}
        idOf={({ owner }) => owner.id}
        columns={[
          {
            label: 'Team',
            render: ({ owner }) => (
              <Text size="sm" fw={600} className="break">
                {owner.name}
              </Text>
            ),
            sortBy: ({ owner }) => owner.name,
          },
          {
            label: 'Sessions',
            render: ({ sessions }) => formatCount(sessions),
            sortBy: ({ sessions }) => sessions,
            isNumber: true,
          },
          {
            label: 'Turns',
            render: ({ sums }) => formatCount(sums.requests),
            sortBy: ({ sums }) => sums.requests,
            isNumber: true,
          },
          {
            label: 'Agents',
            render: ({ agents }) => formatCount(agents),
            sortBy: ({ agents }) => agents,
            isNumber: true,
          },
          {
            label: 'Tokens',
            render: ({ sums }) => `${formatShort(sums.promptTokens)} → ${formatShort(sums.completionTokens)}`,
            sortBy: ({ sums }) => sums.promptTokens + sums.completionTokens,
            isNumber: true,
          },
          { label: 'Cache hits', render: ({ sums }) => cacheHits(sums), isNumber: true },
          {
            label: 'Cost',
            render: ({ sums }) => formatMoney(sums.cost),
            sortBy: ({ sums }) => sums.cost,
            isNumber: true,
          },
          { label: 'Time', render: ({ sums }) => <TimeBar time={sums} />, wideOnly: true },
        ]}
      />
    </Stack>
  );
}
