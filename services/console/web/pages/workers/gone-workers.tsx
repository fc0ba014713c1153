import { Badge, Group, Stack, Text, Title } from '@mantine/core';
import { memo, useEffect, useRef } from 'react';
import type { GoneWorker, LiveWorkerFacts } from '../../../contract/live.ts';
import { refresh, useApi } from '../../api/use-api.ts';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatExact, formatMoment } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';
import { findGone, type WorkerSearch } from './find-workers.ts';
import { states } from './worker-state.tsx';

const everyMs = 60_000;

const whys: Record<GoneWorker['why'], { word: string; color: string; sentence: string }> = {
  drained: { word: 'Left after a drain', color: 'gray', sentence: 'Its last request was over.' },
  left: { word: 'Left', color: 'yellow', sentence: 'It said good-bye without a drain.' },
  restarted: { word: 'Restarted', color: 'gray', sentence: 'Another process took its place.' },
  lost: { word: 'Lost', color: 'red', sentence: 'No heartbeat came for 3.3 s.' },
};

const columns: readonly [Column<GoneWorker>, ...Column<GoneWorker>[]] = [
  { label: 'Worker', render: (worker) => <Name worker={worker} />, sortBy: ({ id }) => id },
  { label: 'Tier', render: ({ tier }) => <TierMark tier={tier} />, sortBy: ({ tier }) => tierNames[tier] },
  { label: 'Served', render: (worker) => <Served worker={worker} />, sortBy: ({ serves }) => serves.join(', ') },
  { label: 'Gone', render: ({ goneAt }) => <Time at={goneAt} />, sortBy: ({ goneAt }) => goneAt },
  { label: 'Why', render: (worker) => <Why worker={worker} />, sortBy: ({ why }) => whys[why].word },
  {
    label: 'Joined',
    render: ({ joinedAt }) => <Time at={joinedAt} />,
    sortBy: ({ joinedAt }) => joinedAt,
    wideOnly: true,
  },
];

export const GoneWorkers = memo(function GoneWorkers({ search }: { search: WorkerSearch }) {
  const gone = useApi<GoneWorker[]>('/workers/gone', { everyMs });
  return (
    <Stack gap="xs">
      <Title order={2}>Gone within a day</Title>
      <Loaded query={gone} contentName="the workers that are gone">
        {(all) => {
          const found = findGone(all, search);
          if (found.length === 0) {
            return (
              <Text size="sm" c="dimmed" className="panel">
                {all.length === 0
                  ? 'No worker has left or was lost, as far as the ingress that answers this page has seen since its start.'
                  : 'None of those that are gone is as the filters say.'}
              </Text>
            );
          }
          return (
            <DataList
              label="Workers that are gone"
              rows={found}
              idOf={({ id, goneAt }) => `${id} ${goneAt}`}
              columns={columns}
              address="gone"
              isNarrowed
            />
          );
        }}
      </Loaded>
    </Stack>
  );
});

/** Fetches the list again when a worker has gone, has restarted or has come back. */
export function useFetchGone(workers: readonly LiveWorkerFacts[] | undefined): void {
  const before = useRef(new Map<string, number>());
  useEffect(() => {
    if (!workers) return;
    const now = new Map(workers.map(({ id, joinedAt }) => [id, joinedAt]));
    const isOneGone = [...before.current].some(([id, joinedAt]) => now.get(id) !== joinedAt);
    const isOneBack = workers.some(({ id }) => !before.current.has(id)) && before.current.size > 0;
    before.current = now;
    if (isOneGone || isOneBack) void refresh(['/workers/gone']);
  }, [workers]);
}

function Name({ worker: { id, host, pool, isBack } }: { worker: GoneWorker }) {
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={600} className="break">
          {id}
        </Text>
        {isBack ? (
          <Badge variant="dot" color="green" tt="none">
            Back
          </Badge>
        ) : null}
      </Group>
      <Text size="xs" c="dimmed" className="break">
        {host === undefined ? pool : `${host} · ${pool}`}
      </Text>
    </div>
  );
}

function Served({ worker: { serves, servedNames } }: { worker: GoneWorker }) {
  const names = serves.slice(0, 3);
  const more = servedNames - names.length;
  return (
    <Text size="sm" className="break" title={serves.join(', ')}>
      {names.length === 0 ? 'nothing' : names.join(', ')}
      {more > 0 ? ` and ${more} more` : ''}
    </Text>
  );
}

function Time({ at }: { at: number }) {
  return (
    <Text size="sm" title={formatExact(at)}>
      {formatMoment(at)}{' '}
      <Text span size="xs" c="dimmed">
        {formatAgo(at)}
      </Text>
    </Text>
  );
}

function Why({ worker: { why, jobs, state, reason } }: { worker: GoneWorker }) {
  const { word, color, sentence } = whys[why];
  const isOdd = state === 'failing' || state === 'ejected' || state === 'paused' || state === 'incompatible';
  const before = isOdd
    ? ` It was ${states[state].word.toLowerCase()} before${reason === undefined ? '' : `: ${reason}`}.`
    : '';
  const had = jobs === 0 ? '' : ` It had ${jobs === 1 ? 'one request' : `${jobs} requests`}.`;
  return (
    <Stack gap={4} align="flex-start">
      <Badge color={color} variant="dot" tt="none">
        {word}
      </Badge>
      <Text size="xs" c="dimmed" className="break">
        {sentence + had + before}
      </Text>
    </Stack>
  );
}
