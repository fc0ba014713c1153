import { Button, Group, Stack, Text } from '@mantine/core';
import type { Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';
import { OnceModal } from '../../parts/once-modal.tsx';
import { ShownSecret } from './new-webhook.tsx';

const dayMs = 24 * 3_600_000;

/** Makes a new secret for a webhook. For another day, messages are also signed with the previous one. */
export function RotateSecret({ rotating, onClose }: { rotating: Webhook | undefined; onClose: () => void }) {
  const rotate = useChange(
    (id: string) =>
      callApi<{ secret: string }>('POST', `/webhooks/${encodeURIComponent(id)}/rotate`, { overlapMs: dayMs }),
    ['/webhooks'],
  );
  const close = (): void => {
    rotate.reset();
    onClose();
  };
  return (
    <OnceModal
      opened={rotating !== undefined}
      onClose={close}
      title={rotate.data ? 'The new secret of your webhook' : 'Rotate the secret'}
      size="lg"
      showsSecret={rotate.data !== undefined}
    >
      {rotate.data ? (
        <ShownSecret secret={rotate.data.secret} onDone={close} />
      ) : (
        <Stack gap="sm">
          <Text size="sm">
            Messages are signed with the new secret and with the one before for a day, so that the receiver can change
            over.
          </Text>
          {rotate.error ? <Failure title="The secret was not rotated" error={rotate.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button loading={rotate.isPending} onClick={() => rotating && rotate.mutate(rotating.id)}>
              Make a new secret
            </Button>
          </Group>
        </Stack>
      )}
    </OnceModal>
  );
}
