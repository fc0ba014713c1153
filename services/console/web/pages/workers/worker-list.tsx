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
import { shownState } from './find-workers.ts';
import { Joined, Name, Serves, SlotBar, SteerButton, Tier } from './worker-cells.tsx';
import { State, states } from './worker-state.tsx';

const columns: readonly [Column<LiveWorkerFacts>, ...Column<LiveWorkerFacts>[]] = [
  { label: 'Worker', render: (worker) => <Name worker={worker} />, sortBy: ({ id }) => id },
  { label: 'Tier', render: ({ tier }) => <Tier tier={tier} />, sortBy: ({ tier }) => tierNames[tier] },
  {
    label: 'Serves',
    render: (worker) => <Serves worker={worker} />,
    sortBy: ({ models, tools }) => [...models, ...tools].join(', '),
  },
  {
    label: 'Slots',
    render: ({ busy, slots }) => <SlotBar busy={busy} slots={slots} />,
    sortBy: ({ busy, slots }) => (slots === 0 ? undefined : busy / slots),
  },
  {
    label: 'State',
    render: (worker) => <State worker={worker} />,
    sortBy: (worker) => states[shownState(worker)].word,
  },
  {
    label: 'Joined',
    render: (worker) => <Joined worker={worker} />,
    sortBy: ({ joinedAt }) => joinedAt,
    wideOnly: true,
  },
  { label: 'Version', render: ({ version }) => version, sortBy: ({ version }) => version, wideOnly: true },
];

interface DrainCommand {
  id: string;
  command: 'drain' | 'undrain';
}

export const WorkerList = memo(function WorkerList({ workers }: { workers: readonly LiveWorkerFacts[] }) {
  const isAdmin = useIsAdmin();
  const steer = useChange(
    ({ id, command }: DrainCommand) =>
      callApi<LiveWorkerFacts>('POST', `/workers/${encodeURIComponent(id)}/${command}`),
    [],
  );
  const [asked, ask] = useState<DrainCommand & { lastFor: readonly string[] }>();
  const latest = useRef(workers);
  useEffect(() => {
    latest.current = workers;
  }, [workers]);
  const { mutate } = steer;
  const onSteer = useCallback(
    (id: string): void => {
      const worker = latest.current.find((each) => each.id === id);
      if (worker?.state === 'draining') mutate({ id, command: 'undrain' });
      else if (worker?.lastFor) ask({ id, command: 'drain', lastFor: worker.lastFor });
      else mutate({ id, command: 'drain' });
    },
    [mutate],
  );
  return (
    <Stack gap="xs">
      {steer.error && !asked ? (
        <Failure title={`The worker ${steer.variables.id} was not changed`} error={steer.error} />
      ) : null}
      <DataList
        label="Workers"
        rows={workers}
        idOf={({ id }) => id}
        columns={columns}
        address=""
        isNarrowed
        {...(isAdmin
          ? {
              actions: ({ id, state }: LiveWorkerFacts) => (
                <SteerButton
                  id={id}
                  isDraining={state === 'draining'}
                  isLoading={steer.isPending && steer.variables.id === id}
                  onSteer={onSteer}
                />
              ),
            }
          : {})}
      />
      <Confirm
        title={`Drain ${asked?.id ?? ''}?`}
        action="Drain"
        change={steer}
        input={asked}
        onClose={() => ask(undefined)}
      >
        No other worker takes requests for <b className="break">{asked?.lastFor.join(', ')}</b>. Once this one drains,
        such requests wait for one that does, and fail when none comes in time.
      </Confirm>
    </Stack>
  );
});
