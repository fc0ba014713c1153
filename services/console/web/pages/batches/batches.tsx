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

/** Milliseconds between two fetches while a batch has not ended. */
const lookEveryMs = 2_000;

/** Milliseconds between two fetches while all batches have ended. */
const lookAfterMs = 15_000;

/** The number of batches that are shown at first, and that each click adds. */
const pageSize = 50;

/** One list has at most this many batches. A further list shows earlier ones. */
const maxListed = 500;

/** The choice with which an administrator sees all open batches of everybody. */
const allOpenBatches = 'open';

export function Batches() {
  const isAdmin = useIsAdmin();
  const choice = useOwner();
  const { owner, isSelf, chooseSelf } = choice;
  const [isMaking, making] = useDisclosure();
  const all = { group: 'Everybody', items: [{ value: allOpenBatches, label: 'Everybody: all that are not over' }] };
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
      {owner === allOpenBatches ? (
        <OpenBatches />
      ) : (
        <OwnBatches key={owner} owner={owner} isSelf={isSelf} onMake={making.open} />
      )}
      <NewBatch opened={isMaking} onClose={making.close} onCreated={chooseSelf} />
    </Page>
  );
}

interface OwnBatchesProps {
  owner: string;
  isSelf: boolean;
  onMake: () => void;
  /** The id of the batch after which the list begins; undefined for the newest ones. */
  after?: string;
}

/** Lists batches of an owner. When the person clicks for more, further lists below show earlier batches. */
function OwnBatches({ owner, isSelf, onMake, after }: OwnBatchesProps) {
  const [limit, setLimit] = useState(pageSize);
  const [goesOn, setGoesOn] = useState(false);
  const query = new URLSearchParams({ owner, limit: String(limit), ...(after !== undefined && { after }) });
  const batches = useApi<{ batches: Batch[]; more: boolean }>(`/batches?${query.toString()}`, {
    everyMs: (page) => (page?.batches.every(isOver) ? lookAfterMs : lookEveryMs),
  });
  const showMore = (): void => (limit < maxListed ? setLimit(limit + pageSize) : setGoesOn(true));
  return (
    <Loaded query={batches} contentName="the batches">
      {({ batches: list, more }) => (
        <Stack gap="xs">
          {list.length === 0 && after === undefined ? (
            <section className="panel">
              <Empty title="No batches yet" action={isSelf ? <Button onClick={onMake}>Create a batch</Button> : null}>
                {isSelf ? (
                  <>
                    A batch runs the requests of a file, one in each line, while the workers have time. Create one here,
                    with <code>npx rtr batches submit requests.jsonl</code>, or with the SDK of OpenAI or Anthropic.
                  </>
                ) : (
                  'Batches that are created with keys of this owner appear here.'
                )}
              </Empty>
            </section>
          ) : null}
          {list.length > 0 ? (
            <BatchList
              batches={list}
              at={batches.dataUpdatedAt}
              withOwners={false}
              hasMore={more}
              {...(after === undefined && { address: '' })}
            />
          ) : null}
          {more && !goesOn ? (
            <Group justify="center">
              <Button variant="default" onClick={showMore}>
                Show earlier batches
              </Button>
            </Group>
          ) : null}
          {more && goesOn ? <OwnBatches owner={owner} isSelf={isSelf} onMake={onMake} {...afterLast(list)} /> : null}
        </Stack>
      )}
    </Loaded>
  );
}

function afterLast(list: readonly Batch[]): { after?: string } {
  const last = list.at(-1);
  return last ? { after: last.id } : {};
}

function OpenBatches() {
  const batches = useApi<Batch[]>('/batches/open', { everyMs: lookEveryMs });
  return (
    <Loaded query={batches} contentName="the batches">
      {(list) =>
        list.length === 0 ? (
          <section className="panel">
            <Empty title="No batch is being worked on">Batches of everybody appear here until they are over.</Empty>
          </section>
        ) : (
          <BatchList batches={list} at={batches.dataUpdatedAt} withOwners address="" />
        )
      }
    </Loaded>
  );
}
