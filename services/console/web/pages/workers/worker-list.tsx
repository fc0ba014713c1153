import { Stack } from '@mantine/core';
import { memo, useCallback, useEffect, useRef, useState } from 'react';
import type { LiveWorkerFacts } from '../../../contract/live.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Pages } from '../../parts/pages.tsx';
import { Joined, Name, Serves, SlotBar, SteerButton, Tier } from './worker-cells.tsx';
import { State } from './worker-state.tsx';

/** Workers of a page. */
const pageSize = 50;

interface Steered {
  id: string;
  command: 'drain' | 'undrain';
}

/** The connected workers, to be drained and undrained by administrators. */
export const WorkerList = memo(function WorkerList({ workers }: { workers: readonly LiveWorkerFacts[] }) {
  const isAdmin = useIsAdmin();
  const steer = useChange(
    ({ id, command }: Steered) => callApi<LiveWorkerFacts>('POST', `/workers/${encodeURIComponent(id)}/${command}`),
    [],
  );
  const [asked, ask] = useState<Steered & { lastFor: readonly string[] }>();
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
      <Pages what="workers" rows={workers} size={pageSize}>
        {(rows) => (
          <DataList
            label="Workers"
            rows={rows}
            idOf={({ id }) => id}
            columns={[
              { label: 'Worker', render: (worker) => <Name worker={worker} /> },
              { label: 'Tier', render: ({ tier }) => <Tier tier={tier} /> },
              { label: 'Serves', render: (worker) => <Serves worker={worker} /> },
              { label: 'Slots', render: ({ busy, slots }) => <SlotBar busy={busy} slots={slots} /> },
              { label: 'State', render: (worker) => <State worker={worker} /> },
              { label: 'Joined', render: (worker) => <Joined worker={worker} />, wideOnly: true },
              { label: 'Version', render: ({ version }) => version, wideOnly: true },
            ]}
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
        )}
      </Pages>
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
