import { Stack, Title } from '@mantine/core';
import type { AgentSessionSums } from '../../../contract/agent-sessions.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount } from '../../parts/format.ts';
import { ModelTable } from './model-table.tsx';
import { createSumColumns } from './sum-columns.tsx';
import { SumsView } from './sums-view.tsx';
import { TimeBar } from './time-bar.tsx';
import { RowName } from '../../parts/table/row-parts.tsx';

const fetchEveryMs = 15_000;

/** Shows the sums of an owner's stored agent sessions. Without a filter, shows the sums of each team. */
export function OwnerSums({ filter }: { filter: string }) {
  const { data = [] } = useApi<AgentSessionSums[]>(`/agent-sessions/sums?${filter}`, { everyMs: fetchEveryMs });
  const [firstSums] = data;
  if (!firstSums) return null;
  return filter === '' ? <TeamSums sums={data} /> : <OneOwnerSums totals={firstSums} />;
}

const keyColumns = createSumColumns<AgentSessionSums['keys'][number]>(({ sums }) => sums);
const teamColumns = createSumColumns<AgentSessionSums>(({ sums }) => sums);

function OneOwnerSums({ totals: { sessions, agents, sums, models, keys } }: { totals: AgentSessionSums }) {
  return (
    <Stack gap="xs">
      <SumsView
        sums={sums}
        countTile={{
          name: 'Sessions',
          count: sessions,
          detail: `${formatCount(sums.requests)} turns, ${formatCount(agents)} agents started`,
        }}
      />
      <div className="halves">
        <ModelTable models={models} label="Models of the sessions" />
        {keys.length < 2 ? null : (
          <DataList
            label="Keys of the sessions"
            rows={keys}
            getId={({ key }) => key.id}
            columns={[{ label: 'Key', sortBy: ({ key }) => key.name }, keyColumns.turns, keyColumns.cost]}
          />
        )}
      </div>
    </Stack>
  );
}

function TeamSums({ sums: teamSums }: { sums: readonly AgentSessionSums[] }) {
  return (
    <Stack gap="xs">
      <Title order={2}>Teams</Title>
      <DataList
        label="Sessions by team"
        address="teams"
        rows={teamSums}
        getId={({ owner }) => owner.id}
        columns={[
          {
            label: 'Team',
            render: ({ owner }) => <RowName name={owner.name} />,
            sortBy: ({ owner }) => owner.name,
          },
          { label: 'Sessions', sortBy: ({ sessions }) => sessions, format: formatCount, isNumber: true },
          teamColumns.turns,
          { label: 'Agents', sortBy: ({ agents }) => agents, format: formatCount, isNumber: true },
          teamColumns.tokens,
          teamColumns.hits,
          teamColumns.cost,
          { label: 'Time', render: ({ sums }) => <TimeBar time={sums} />, wideOnly: true },
        ]}
      />
    </Stack>
  );
}
