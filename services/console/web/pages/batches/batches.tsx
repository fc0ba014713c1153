import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Batch } from '../../../contract/batches.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { GrowingList } from '../../parts/growing-list.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { OwnerSelect } from '../../parts/owner-select.tsx';
import { Page } from '../../parts/page.tsx';
import { useOwner } from '../../parts/use-owner.ts';
import { BatchList } from './batch-list.tsx';
import { hasEnded } from './batch-state.ts';
import { NewBatch } from './new-batch.tsx';

/** Milliseconds between two fetches while a batch has not ended. */
const fetchEveryMs = 2_000;

/** Milliseconds between two fetches while all batches have ended. */
const fetchEndedEveryMs = 15_000;

/** The value in the URL with which administrators choose the unfinished batches of all owners. */
const allOpenBatches = 'open';

export function Batches() {
  const isAdmin = useIsAdmin();
  const choice = useOwner();
  const { owner, isSelf, chooseSelf } = choice;
  const [isCreating, createDialog] = useDisclosure();
  const everybodyGroup = {
    group: 'Everybody',
    items: [{ value: allOpenBatches, label: 'Everybody: unfinished batches' }],
  };
  return (
    <Page
      title="Batches"
      description="Many requests that nobody waits for. They use free slots, and live requests go first."
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={createDialog.open}>
          New batch
        </Button>
      }
    >
      <OwnerSelect choice={choice} furtherChoices={isAdmin ? [everybodyGroup] : []} />
      {owner === allOpenBatches ? (
        <OpenBatches />
      ) : (
        <OwnerBatches key={owner} owner={owner} isSelf={isSelf} onCreate={createDialog.open} />
      )}
      <NewBatch opened={isCreating} onClose={createDialog.close} onCreated={chooseSelf} />
    </Page>
  );
}

interface OwnerBatchesProps {
  owner: string;
  isSelf: boolean;
  onCreate: () => void;
}

function OwnerBatches({ owner, isSelf, onCreate }: OwnerBatchesProps) {
  return (
    <GrowingList<{ batches: Batch[]; more: boolean }>
      path={`/batches?owner=${encodeURIComponent(owner)}`}
      rowsName="batches"
      readIds={({ batches }) => batches.map(({ id }) => id)}
      everyMs={(page) => (page?.batches.every(hasEnded) ? fetchEndedEveryMs : fetchEveryMs)}
    >
      {({ batches, more }, { answeredAt, isFirst }) =>
        batches.length > 0 ? (
          <BatchList
            batches={batches}
            answeredAt={answeredAt}
            showsOwners={false}
            hasMore={more}
            {...(isFirst && { address: '' })}
          />
        ) : isFirst ? (
          <EmptyPanel
            title="No batches yet"
            action={isSelf ? <Button onClick={onCreate}>Create a batch</Button> : null}
          >
            {isSelf ? (
              <>
                A batch runs the requests of a file, one in each line, while the workers have time. Create one here,
                with <code>rtr batches submit requests.jsonl</code>, or with the SDK of OpenAI or Anthropic.
              </>
            ) : (
              'Batches that are created with keys of this owner appear here.'
            )}
          </EmptyPanel>
        ) : null
      }
    </GrowingList>
  );
}

function OpenBatches() {
  const batches = useApi<Batch[]>('/batches/open', { everyMs: fetchEveryMs });
  return (
    <Loaded query={batches} contentName="the batches">
      {(list) =>
        list.length === 0 ? (
          <EmptyPanel title="No unfinished batches">The unfinished batches of everybody appear here.</EmptyPanel>
        ) : (
          <BatchList batches={list} answeredAt={batches.dataUpdatedAt} showsOwners address="" />
        )
      }
    </Loaded>
  );
}
