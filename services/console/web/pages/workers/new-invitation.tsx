import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { CreatedBoxInvitation } from '../../../contract/box-invitations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { JoinWait } from './join-wait.tsx';

/** Shows the line of a new invitation once, until the workers of the machine have joined. */
export function NewInvitation({ created, onClose }: { created: CreatedBoxInvitation; onClose: () => void }) {
  const { invitation, command, note } = created;
  return (
    <Stack gap="sm">
      <Text size="sm">
        Run this on the machine that joins, before {formatDateTime(invitation.expiresAt)}. It works once, and is shown
        only this once. The machine needs Node and no open port of its own.
      </Text>
      <CodeBlock code={command} label="the line" wrap />
      {note === undefined ? null : (
        <Alert variant="outline" color="yellow">
          <Text size="sm" className="break">
            {note}
          </Text>
        </Alert>
      )}
      <JoinWait invitationId={invitation.id} />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
