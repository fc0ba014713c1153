import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState, type KeyboardEvent } from 'react';
import type { UserTurn } from '../../formats/conversation.ts';
import { isSendKey } from './keyboard.ts';

export interface UserTurnViewProps {
  turn: UserTurn;
  onEdit: (text: string) => void;
}

/** Shows a turn of the user, and lets the user edit the turn and send it again. */
export function UserTurnView({ turn: { text, images }, onEdit }: UserTurnViewProps) {
  const [editedText, setEditedText] = useState<string>();
  const isEmpty = editedText?.trim() === '' && images.length === 0;
  const send = (): void => {
    if (editedText === undefined || isEmpty) return;
    setEditedText(undefined);
    onEdit(editedText);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isSendKey(event)) {
      event.preventDefault();
      send();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      setEditedText(undefined);
    }
  };
  return (
    <article className="panel user-turn" aria-label="You">
      <Group justify="space-between" gap="xs">
        <Text size="xs" c="dimmed">
          You
        </Text>
        {editedText === undefined ? (
          <Button size="compact-xs" variant="subtle" color="gray" onClick={() => setEditedText(text)}>
            Edit
          </Button>
        ) : null}
      </Group>
      {editedText === undefined ? (
        <Text size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {text}
        </Text>
      ) : (
        <Stack gap="xs">
          <Textarea
            aria-label="Your message, changed"
            description="The turns after this message are replaced"
            autosize
            maxRows={12}
            autoFocus
            data-own-escape
            value={editedText}
            onChange={({ currentTarget }) => setEditedText(currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <Group gap="xs">
            <Button size="xs" disabled={isEmpty} onClick={send}>
              Send from here
            </Button>
            <Button size="xs" variant="default" onClick={() => setEditedText(undefined)}>
              Cancel
            </Button>
          </Group>
        </Stack>
      )}
      <Group gap="xs" mt={images.length > 0 ? 'xs' : 0}>
        {images.map((url, index) => (
          // oxlint-disable-next-line no-array-index-key -- images of a turn never change
          <img key={index} src={url} alt={`Attachment ${index + 1}`} className="attachment" />
        ))}
      </Group>
    </article>
  );
}
