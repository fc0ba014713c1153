import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Empty } from '../../../parts/loaded.tsx';
import { formatAgo } from '../../../parts/format.ts';
import { keptBounds, maxNameCharacters, type SavedHead } from './saved-conversation.ts';
import type { Conversations } from './use-conversations.ts';

export interface SavedDialogProps {
  isOpen: boolean;
  onClose: () => void;
  conversations: Conversations;
  shownId: string | undefined;
  onOpen: (id: string) => void;
  /** Called with the ids of the conversations that were deleted. */
  onRemoved: (ids: readonly string[]) => void;
}

export function SavedDialog({ isOpen, onClose, conversations, shownId, onOpen, onRemoved }: SavedDialogProps) {
  const { heads = [], runInStore } = conversations;
  const [idsToRemove, setIdsToRemove] = useState<readonly string[]>([]);
  const remove = async (): Promise<void> => {
    await runInStore((store) => store.remove(idsToRemove));
    onRemoved(idsToRemove);
    setIdsToRemove([]);
  };
  return (
    <>
      <Modal opened={isOpen} onClose={onClose} title="Saved conversations" size="lg">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            Conversations are kept in this browser only, not by the router: the latest {keptBounds.count}, for{' '}
            {keptBounds.days} days, until you sign out. Whoever uses this browser’s profile can read them.
          </Text>
          {heads.length === 0 ? (
            <Empty title="No saved conversations">Conversations in the playground are saved here.</Empty>
          ) : (
            <ul className="cards" aria-label="Saved conversations">
              {heads.map((head) => (
                <li key={head.id} aria-current={head.id === shownId}>
                  <SavedItem
                    head={head}
                    isShown={head.id === shownId}
                    onOpen={() => onOpen(head.id)}
                    onRename={(name) => void runInStore((store) => store.rename(head.id, name))}
                    onRemove={() => setIdsToRemove([head.id])}
                  />
                </li>
              ))}
            </ul>
          )}
          {heads.length > 1 ? (
            <Group>
              <Button variant="default" onClick={() => setIdsToRemove(heads.map(({ id }) => id))}>
                Delete all
              </Button>
            </Group>
          ) : null}
        </Stack>
      </Modal>
      <Modal
        opened={idsToRemove.length > 0}
        onClose={() => setIdsToRemove([])}
        title={idsToRemove.length > 1 ? 'Delete all conversations' : 'Delete the conversation'}
      >
        <Stack>
          <Text size="sm">
            {idsToRemove.length > 1 ? `${idsToRemove.length} conversations are` : 'The conversation is'} deleted from
            this browser for good.
          </Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => setIdsToRemove([])}>
              Cancel
            </Button>
            <Button color="red.8" onClick={() => void remove()}>
              Delete for good
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

interface SavedItemProps {
  head: SavedHead;
  isShown: boolean;
  onOpen: () => void;
  onRename: (name: string) => void;
  onRemove: () => void;
}

function SavedItem({ head: { name, at }, isShown, onOpen, onRename, onRemove }: SavedItemProps) {
  const [typedName, setTypedName] = useState<string>();
  if (typedName !== undefined) {
    const isEmpty = typedName.trim() === '';
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isEmpty) onRename(typedName.trim());
          setTypedName(undefined);
        }}
      >
        <Group gap="xs" align="flex-end">
          <TextInput
            style={{ flexGrow: 1 }}
            label="Name"
            maxLength={maxNameCharacters}
            autoFocus
            value={typedName}
            onChange={({ currentTarget }) => setTypedName(currentTarget.value)}
          />
          <Button type="submit" disabled={isEmpty}>
            Save
          </Button>
          <Button variant="default" onClick={() => setTypedName(undefined)}>
            Cancel
          </Button>
        </Group>
      </form>
    );
  }
  return (
    <Group gap="xs" justify="space-between">
      <div>
        <Text size="sm" fw={600} className="break">
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {formatAgo(at)}
          {isShown ? ', shown now' : ''}
        </Text>
      </div>
      <Group gap="xs">
        <Button size="xs" variant="default" aria-label={`Open ${name}`} disabled={isShown} onClick={onOpen}>
          Open
        </Button>
        <Button size="xs" variant="default" aria-label={`Rename ${name}`} onClick={() => setTypedName(name)}>
          Rename
        </Button>
        <Button size="xs" variant="default" aria-label={`Delete ${name}`} onClick={onRemove}>
          Delete
        </Button>
      </Group>
    </Group>
  );
}
