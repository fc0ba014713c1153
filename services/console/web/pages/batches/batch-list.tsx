import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { Batch } from '../../../contract/batches.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { formatAgo, formatMoney } from '../../parts/format.ts';
import { BatchDetailsModal } from './batch-details.tsx';
import { BatchProgress, BatchState } from './batch-progress.tsx';
import { BatchRates, countDone, describeState } from './batch-state.ts';

export interface BatchListProps {
  batches: readonly Batch[];
  /** The time of the API's answer, in ms since 1970. */
  answeredAt: number;
  showsOwners: boolean;
  /** Whether there are earlier batches that are not in the list. */
  hasMore?: boolean;
  /** See the `address` of `DataList`. */
  address?: string;
}

export function BatchList({ batches, answeredAt, showsOwners, ...dataListProps }: BatchListProps) {
  const [rates] = useState(() => new BatchRates());
  const [viewedId, setViewedId] = useState<string>();
  const [batchToCancel, setBatchToCancel] = useState<Batch>();
  const cancelBatch = useChange(
    ({ id }: Batch) => callApi<Batch>('POST', `/batches/${encodeURIComponent(id)}/cancel`),
    ['/batches'],
  );
  const ownerColumn: Column<Batch> = { label: 'Owner', sortBy: (batch) => batch.owner.name };
  return (
    <>
      <DataList
        label="Batches"
        rows={batches}
        getId={({ id }) => id}
        columns={[
          {
            label: 'Batch',
            render: (batch) => <BatchName batch={batch} />,
            search: ({ id, model, endpoint }) => [id, model, endpoint].join(' '),
          },
          ...(showsOwners ? [ownerColumn] : []),
          {
            label: 'State',
            render: (batch) => <BatchState batch={batch} />,
            sortBy: (batch) => describeState(batch).word,
          },
          {
            label: 'Progress',
            render: (batch) => (
              <BatchProgress batch={batch} rate={rates.measure(batch, answeredAt)} answeredAt={answeredAt} />
            ),
            sortBy: (batch) => (batch.total === 0 ? undefined : countDone(batch) / batch.total),
          },
          { label: 'Cost', sortBy: ({ cost }) => cost, format: formatMoney, isNumber: true },
          { label: 'Created', sortBy: ({ createdAt }) => createdAt, format: formatAgo, wideOnly: true },
        ]}
        {...dataListProps}
        actions={(batch) => (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <Button
              size="xs"
              variant="default"
              aria-label={`Details of ${batch.id}`}
              onClick={() => setViewedId(batch.id)}
            >
              Details
            </Button>
            {batch.mayCancel ? (
              <Button
                size="xs"
                variant="default"
                aria-label={`Cancel ${batch.id}`}
                onClick={() => setBatchToCancel(batch)}
              >
                Cancel
              </Button>
            ) : null}
          </Group>
        )}
      />
      <BatchDetailsModal id={viewedId} onClose={() => setViewedId(undefined)} />
      <Confirm
        title="Cancel the batch?"
        action="Cancel batch"
        dismissal="Keep it running"
        change={cancelBatch}
        input={batchToCancel}
        onClose={() => setBatchToCancel(undefined)}
      >
        Requests that are done keep their answers and their cost. The others are not run any more.
      </Confirm>
    </>
  );
}

function BatchName({ batch: { id, endpoint, model } }: { batch: Batch }) {
  return (
    <div style={{ minWidth: '10rem' }}>
      {/* An id is one long word. Unless it may break anywhere, it takes the room of the buttons. */}
      <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
      <Text size="xs" c="dimmed" className="break">
        {[model, endpoint].filter((part) => part !== undefined).join(' · ')}
      </Text>
    </div>
  );
}
