import { Text } from '@mantine/core';
import type { Webhook } from '../../../contract/webhooks.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { SecretShownOnce } from './new-webhook.tsx';

const dayMs = 24 * 3_600_000;

/** Makes a new secret for a webhook. For one day, messages are signed with the previous secret too. */
export function RotateSecret({
  rotatedWebhook,
  onClose,
}: {
  rotatedWebhook: Webhook | undefined;
  onClose: () => void;
}) {
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
    <SecretModal
      opened={rotatedWebhook !== undefined}
      onClose={close}
      title={rotate.data ? 'The new secret of your webhook' : 'Rotate the secret'}
      size="lg"
      showsSecret={rotate.data !== undefined}
    >
      {rotate.data ? (
        <SecretShownOnce secret={rotate.data.secret} onDone={close} />
      ) : (
        <DialogForm
          change={rotate}
          failure="The secret was not rotated"
          action="Make a new secret"
          onSubmit={() => rotatedWebhook && rotate.mutate(rotatedWebhook.id)}
          onCancel={close}
        >
          <Text size="sm">
            For a day, messages are signed with both the new secret and the old secret, so that the receiver has time to
            change its secret.
          </Text>
        </DialogForm>
      )}
    </SecretModal>
  );
}
