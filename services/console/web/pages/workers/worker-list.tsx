import { Stack } from '@mantine/core';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { tierNames } from '../../parts/tier-mark.tsx';
import { findShownState } from './find-workers.ts';
import { JoinedCell, NameCell, ServesCell, SlotBar, DrainButton, TierCell } from './worker-cells.tsx';
import { WorkerStateCell, stateLabels } from './worker-state.tsx';

const columns: readonly [Column<LiveWorkerFacts>, ...Column<LiveWorkerFacts>[]] = [
  { label: 'Worker', render: (worker) => <NameCell worker={worker} />, sortBy: ({ id }) => id },
  { label: 'Tier', render: ({ tier }) => <TierCell tier={tier} />, sortBy: ({ tier }) => tierNames[tier] },
  {
    label: 'Serves',
    render: (worker) => <ServesCell worker={worker} />,
    sortBy: ({ models, tools }) => [...models, ...tools].join(', '),
  },
  {
    label: 'Slots',
    render: ({ busy, slots }) => <SlotBar busy={busy} slots={slots} />,
    sortBy: ({ busy, slots }) => (slots === 0 ? undefined : busy / slots),
  },
  {
    label: 'State',
    render: (worker) => <WorkerStateCell worker={worker} />,
    sortBy: (worker) => stateLabels[findShownState(worker)].word,
  },
  {
    label: 'Joined',
    render: (worker) => <JoinedCell worker={worker} />,
    sortBy: ({ joinedAt }) => joinedAt,
    wideOnly: true,
  },
  { label: 'Version', sortBy: ({ version }) => version, wideOnly: true },
];

interface DrainCommand {
  id: string;
  command: 'drain' | 'undrain';
}

export const WorkerList = memo(function WorkerList({ workers }: { workers: readonly LiveWorkerFacts[] }) {
  const isAdmin = useIsAdmin();
  const changeDrain = useChange(
    ({ id, command }: DrainCommand) =>
      callApi<LiveWorkerFacts>('POST', `/workers/${encodeURIComponent(id)}/${command}`),
    [],
  );
  const [drainToConfirm, setDrainToConfirm] = useState<DrainCommand & { lastFor: readonly string[] }>();
  const latestWorkers = useRef(workers);
  useEffect(() => {
    latestWorkers.current = workers;
  }, [workers]);
  const { mutate } = changeDrain;
  const onToggleDrain = useCallback(
    (id: string): void => {
      const worker = latestWorkers.current.find((candidate) => candidate.id === id);
      if (worker?.state === 'draining') mutate({ id, command: 'undrain' });
      else if (worker?.lastFor) setDrainToConfirm({ id, command: 'drain', lastFor: worker.lastFor });
      else mutate({ id, command: 'drain' });
    },
    [mutate],
  );
  return (
    <Stack gap="xs">
      {changeDrain.error && !drainToConfirm ? (
        <Failure title={`The worker ${changeDrain.variables.id} was not changed`} error={changeDrain.error} />
      ) : null}
      <DataList
        label="Workers"
        rows={workers}
        getId={({ id }) => id}
        columns={columns}
        address=""
        hasOwnFilters
        {...(isAdmin
          ? {
              actions: ({ id, state }: LiveWorkerFacts) => (
                <DrainButton
                  id={id}
                  isDraining={state === 'draining'}
                  isLoading={changeDrain.isPending && changeDrain.variables.id === id}
                  onToggleDrain={onToggleDrain}
                />
              ),
            }
          : {})}
      />
      <Confirm
        title={`Drain ${drainToConfirm?.id ?? ''}?`}
        action="Drain"
        change={changeDrain}
        input={drainToConfirm}
        onClose={() => setDrainToConfirm(undefined)}
      >
        No other worker takes requests for <b className="break">{drainToConfirm?.lastFor.join(', ')}</b>. Once this
        worker drains, such requests wait for another worker, and fail when none comes in time.
      </Confirm>
    </Stack>
  );
});
