import { Badge, Stack, Text, Title } from '@mantine/core';
import { memo, useEffect, useRef } from 'react';
import type { GoneWorker, LiveWorkerFacts } from '../../../contract/live.ts';
import { refreshAnswers, useApi } from '../../api/use-api.ts';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatExact, formatMoment } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';
import { findGoneWorkers, type WorkerSearch } from './find-workers.ts';
import { stateLabels } from './worker-state.tsx';
import { RowName } from '../../parts/table/row-parts.tsx';

/** Milliseconds between two fetches. */
const fetchEveryMs = 60_000;

const whyLabels: Record<GoneWorker['why'], { word: string; color: string; sentence: string }> = {
  drained: { word: 'Left after a drain', color: 'gray', sentence: 'Its last request was over.' },
  left: { word: 'Left', color: 'yellow', sentence: 'It disconnected without a drain.' },
  restarted: { word: 'Restarted', color: 'gray', sentence: 'Another process took its place.' },
  lost: { word: 'Lost', color: 'red', sentence: 'No heartbeat came for 3.3 s.' },
};

const columns: readonly [Column<GoneWorker>, ...Column<GoneWorker>[]] = [
  { label: 'Worker', render: (worker) => <GoneName worker={worker} />, sortBy: ({ id }) => id },
  { label: 'Tier', render: ({ tier }) => <TierMark tier={tier} />, sortBy: ({ tier }) => tierNames[tier] },
  { label: 'Served', render: (worker) => <ServedNames worker={worker} />, sortBy: ({ serves }) => serves.join(', ') },
  { label: 'Gone', render: ({ goneAt }) => <TimeCell at={goneAt} />, sortBy: ({ goneAt }) => goneAt },
  { label: 'Why', render: (worker) => <WhyCell worker={worker} />, sortBy: ({ why }) => whyLabels[why].word },
  {
    label: 'Joined',
    render: ({ joinedAt }) => <TimeCell at={joinedAt} />,
    sortBy: ({ joinedAt }) => joinedAt,
    wideOnly: true,
  },
];

export const GoneWorkers = memo(function GoneWorkers({ search }: { search: WorkerSearch }) {
  const goneWorkers = useApi<GoneWorker[]>('/workers/gone', { everyMs: fetchEveryMs });
  return (
    <Stack gap="xs">
      <Title order={2}>Gone within a day</Title>
      <Loaded query={goneWorkers} contentName="the workers that are gone">
        {(list) => {
          const foundWorkers = findGoneWorkers(list, search);
          if (foundWorkers.length === 0) {
            return (
              <Text size="sm" c="dimmed" className="panel">
                {list.length === 0
                  ? 'No worker has left or was lost, as far as the ingress that answers this page has seen since its start.'
                  : 'None of the gone workers passes the filters.'}
              </Text>
            );
          }
          return (
            <DataList
              label="Workers that are gone"
              rows={foundWorkers}
              getId={({ id, goneAt }) => `${id} ${goneAt}`}
              columns={columns}
              address="gone"
              hasOwnFilters
            />
          );
        }}
      </Loaded>
    </Stack>
  );
});

/** Fetches the list of gone workers again when a worker has gone, has restarted or has come back. */
export function useRefreshGone(workers: readonly LiveWorkerFacts[] | undefined): void {
  const previousJoins = useRef(new Map<string, number>());
  useEffect(() => {
    if (!workers) return;
    const joins = new Map(workers.map(({ id, joinedAt }) => [id, joinedAt]));
    const hasWorkerGone = [...previousJoins.current].some(([id, joinedAt]) => joins.get(id) !== joinedAt);
    const hasWorkerReturned =
      workers.some(({ id }) => !previousJoins.current.has(id)) && previousJoins.current.size > 0;
    previousJoins.current = joins;
    if (hasWorkerGone || hasWorkerReturned) void refreshAnswers(['/workers/gone']);
  }, [workers]);
}

function GoneName({ worker: { id, host, pool, isBack } }: { worker: GoneWorker }) {
  return (
    <RowName name={id} details={host === undefined ? pool : `${host} · ${pool}`}>
      {isBack ? (
        <Badge variant="dot" color="green" tt="none">
          Back
        </Badge>
      ) : null}
    </RowName>
  );
}

function ServedNames({ worker: { serves, servedNames } }: { worker: GoneWorker }) {
  const names = serves.slice(0, 3);
  const hiddenCount = servedNames - names.length;
  return (
    <Text size="sm" className="break" title={serves.join(', ')}>
      {names.length === 0 ? 'nothing' : names.join(', ')}
      {hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}
    </Text>
  );
}

function TimeCell({ at }: { at: number }) {
  return (
    <Text size="sm" title={formatExact(at)}>
      {formatMoment(at)}{' '}
      <Text span size="xs" c="dimmed">
        {formatAgo(at)}
      </Text>
    </Text>
  );
}

function WhyCell({ worker: { why, jobs, state, reason } }: { worker: GoneWorker }) {
  const { word, color, sentence } = whyLabels[why];
  const hadProblem = state === 'failing' || state === 'ejected' || state === 'paused' || state === 'incompatible';
  const stateText = hadProblem
    ? ` It was ${stateLabels[state].word.toLowerCase()} before${reason === undefined ? '' : `: ${reason}`}.`
    : '';
  const requestsText = jobs === 0 ? '' : ` It had ${jobs === 1 ? 'one request' : `${jobs} requests`}.`;
  return (
    <Stack gap={4} align="flex-start">
      <Badge color={color} variant="dot" tt="none">
        {word}
      </Badge>
      <Text size="xs" c="dimmed" className="break">
        {sentence + requestsText + stateText}
      </Text>
    </Stack>
  );
}
