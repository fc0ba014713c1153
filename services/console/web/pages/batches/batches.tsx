import { Button, Group, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Batch } from '../../../contract/batches.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { OwnerSelect } from '../../parts/owner-select.tsx';
import { Page } from '../../parts/page.tsx';
import { useOwner } from '../../parts/use-owner.ts';
import { BatchList } from './batch-list.tsx';
import { isOver } from './batch-state.ts';
import { NewBatch } from './new-batch.tsx';

/** Milliseconds between two looks at the batches, and where all are over. */
const lookEveryMs = 2_000;
const lookAfterMs = 15_000;

/** Batches of one page, and how many more each click shows. */
const pageSize = 50;

/** What an administrator chooses to see the batches of everybody that are not over. */
const everybody = 'open';

/** Batches with their progress. */
export function Batches() {
  const isAdmin = useIsAdmin();
  const choice = useOwner();
  const { owner, isSelf, chooseSelf } = choice;
  const [isMaking, making] = useDisclosure();
  const all = { group: 'Everybody', items: [{ value: everybody, label: 'Everybody: all that are not over' }] };
  return (
    <Page
      title="Batches"
      about="Many requests that nobody waits for. They fill slots that are free, and give way to live requests."
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={making.open}>
          New batch
        </Button>
      }
    >
      <OwnerSelect choice={choice} further={isAdmin ? [all] : []} />
      {owner === everybody ? <OpenBatches /> : <OwnBatches key={owner} owner={owner} isSelf={isSelf} />}
      <NewBatch opened={isMaking} onClose={making.close} onCreated={chooseSelf} />
    </Page>
  );
}

function OwnBatches({ owner, isSelf }: { owner: string; isSelf: boolean }) {
  const [limit, setLimit] = useState(pageSize);
  const batches = useApi<{ batches: Batch[]; more: boolean }>(
    `/batches?owner=${encodeURIComponent(owner)}&limit=${limit}`,
    { everyMs: (page) => (page?.batches.every(isOver) ? lookAfterMs : lookEveryMs) },
  );
  return (
    <Loaded query={batches} what="the batches">
      {({ batches: list, more }) => (
        <Stack gap="xs">
          {list.length === 0 ? (
            <section className="panel">
              <Empty title="No batches yet">
                {isSelf
                  ? 'Upload a file with one request in each line: here, with rtr batches submit, or with the SDK of OpenAI or Anthropic.'
                  : 'Batches that are created with keys of this owner appear here.'}
              </Empty>
            </section>
          ) : (
            <BatchList batches={list} at={batches.dataUpdatedAt} withOwners={false} />
          )}
          {more && limit < 500 ? (
            <Group justify="center">
              <Button variant="default" onClick={() => setLimit(Math.min(500, limit + pageSize))}>
                Show earlier batches
              </Button>
            </Group>
          ) : null}
        </Stack>
      )}
    </Loaded>
  );
}

function OpenBatches() {
  const batches = useApi<Batch[]>('/batches/open', { everyMs: lookEveryMs });
  return (
    <Loaded query={batches} what="the batches">
      {(list) =>
        list.length === 0 ? (
          <section className="panel">
            <Empty title="No batch is being worked on" />
          </section>
        ) : (
          <BatchList batches={list} at={batches.dataUpdatedAt} withOwners />
        )
      }
    </Loaded>
  );
}
