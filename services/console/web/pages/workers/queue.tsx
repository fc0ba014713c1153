import { Text } from '@mantine/core';
import { memo } from 'react';
import type { QueuedLane } from '../../../contract/live.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount } from '../../parts/format.ts';
import { TierMark, tierNames } from '../../parts/tier-mark.tsx';

/** Shows the number of waiting requests by lane, and of requests that no worker can serve now. */
export const Queue = memo(function Queue({ lanes }: { lanes: readonly QueuedLane[] }) {
  if (lanes.length === 0) {
    return (
      <section className="panel">
        <Text size="sm" c="dimmed">
          No request is waiting.
        </Text>
      </section>
    );
  }
  return (
    <DataList
      label="Queue by lane"
      rows={lanes}
      getId={(lane) => `${lane.tier}.${lane.pool ?? ''}.${lane.class}`}
      columns={[
        {
          label: 'Pool',
          render: ({ pool }) => <span className="break">{pool ?? 'none: no worker can serve it now'}</span>,
          sortBy: ({ pool }) => pool,
        },
        { label: 'Tier', render: ({ tier }) => <TierMark tier={tier} />, sortBy: ({ tier }) => tierNames[tier] },
        { label: 'Class', sortBy: (lane) => lane.class },
        { label: 'Waiting', sortBy: ({ waiting }) => waiting, format: formatCount, isNumber: true },
      ]}
      address="queue"
    />
  );
});
