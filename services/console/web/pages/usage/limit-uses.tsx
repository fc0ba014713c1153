import { Button, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import type { LimitUse } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatCount } from '../../parts/format.ts';
import { describeUsedAmount, describeLimitName, computeUsedShare, sortByTightestLimit } from './limit-words.ts';
import { RowName } from '../../parts/table/row-parts.tsx';

/** Number of keys, people and teams that are shown at first: those that have used the largest share of one of their limits. */
const shownAtFirst = 3;

const columns: readonly [Column<LimitUse>, ...Column<LimitUse>[]] = [
  {
    label: 'Name',
    render: ({ name }) => <RowName name={name} />,
    sortBy: ({ name }) => name,
  },
  {
    label: 'Used',
    render: ({ party, limits }) => <LimitBars party={party} limits={limits} />,
    sortBy: computeUsedShare,
  },
];

/** Shows how much of each limit is used. Renders nothing if there are no limits. */
export function LimitUses() {
  const uses = useApi<LimitUse[]>('/usage/now', { everyMs: 10_000 });
  const [params, setParams] = useSearchParams();
  const isOpen = params.has('limits');
  // The result is memoized, because there may be thousands of limits.
  const sortedUses = useMemo(() => sortByTightestLimit(uses.data ?? []), [uses.data]);
  if (uses.error && !uses.data) {
    return <Failure title="Could not load the limits" error={uses.error} onRetry={() => void uses.refetch()} />;
  }
  if (sortedUses.length === 0) return null;
  const toggle = (): void =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      for (const name of ['limits', 'limits-search', 'limits-sort', 'limits-page']) next.delete(name);
      if (!isOpen) next.set('limits', 'all');
      return next;
    });
  return (
    <section className="panel" aria-label="Limits">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Limits</Title>
        {sortedUses.length > shownAtFirst ? (
          <Button size="xs" variant="default" aria-expanded={isOpen} onClick={toggle}>
            {isOpen ? 'Show the tightest only' : `Show all ${formatCount(sortedUses.length)}`}
          </Button>
        ) : null}
      </Group>
      {isOpen ? (
        <DataList
          label="All limits"
          searchLabel="Search limits"
          rows={sortedUses}
          getId={({ party }) => party}
          columns={columns}
          address="limits"
        />
      ) : (
        <div className="limit-uses">
          {sortedUses.slice(0, shownAtFirst).map(({ party, name, limits }) => (
            <Stack key={party} gap={6}>
              <Text size="sm" fw={600} className="break">
                {name}
              </Text>
              <LimitBars party={party} limits={limits} />
            </Stack>
          ))}
        </div>
      )}
    </section>
  );
}

function LimitBars({ party, limits }: Pick<LimitUse, 'party' | 'limits'>) {
  return (
    <Stack gap={6} miw="14rem">
      {limits.map(({ name, limit, used, resetsAt }) => (
        <div key={name}>
          <Group justify="space-between" gap="xs">
            <Text size="xs">{describeLimitName(name)}</Text>
            <Text size="xs" c="dimmed" className="numeric">
              {describeUsedAmount(name, used, limit)}
              {resetsAt === undefined || used === 0 ? '' : `, resets ${formatAgo(resetsAt)}`}
            </Text>
          </Group>
          <Progress
            value={Math.min(100, (used / limit) * 100)}
            color={used >= limit ? 'red' : used > limit * 0.8 ? 'orange' : 'ink'}
            aria-label={`${describeLimitName(name)} of ${party}`}
          />
        </div>
      ))}
    </Stack>
  );
}
