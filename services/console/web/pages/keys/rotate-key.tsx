import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key } from '../../../contract/keys.ts';
import { callApi } from '../../api/call-api.ts';
import { useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { findKeyRights } from './key-rights.ts';
import { KeyShownOnce } from './new-key.tsx';

const hourMs = 3_600_000;

const overlapChoices = [
  { value: '0', label: 'expires now' },
  { value: String(hourMs), label: 'expires in an hour' },
  { value: String(24 * hourMs), label: 'expires in a day' },
  { value: String(7 * 24 * hourMs), label: 'expires in a week' },
];

/** Replaces a key with a new key that has the same settings. The old key can stay valid for a while. */
export function RotateKey({ rotatedKey, onClose }: { rotatedKey: Key | undefined; onClose: () => void }) {
  const { user } = useSession();
  const mayOverlap = !rotatedKey || findKeyRights(rotatedKey, user).overlap;
  const [chosenOverlap, setChosenOverlap] = useState(String(24 * hourMs));
  const overlap = mayOverlap ? chosenOverlap : '0';
  const rotate = useChange(
    ({ id, overlapMs }: { id: string; overlapMs: number }) =>
      callApi<{ key: Key; raw: string }>('POST', `/keys/${encodeURIComponent(id)}/rotate`, { overlapMs }),
    ['/keys'],
  );
  const close = (): void => {
    rotate.reset();
    onClose();
  };
  return (
    <SecretModal
      opened={rotatedKey !== undefined}
      onClose={close}
      title={rotate.data ? 'Your new key' : `Rotate ${rotatedKey?.name ?? ''}`}
      size="lg"
      showsSecret={rotate.data !== undefined}
    >
      {rotate.data ? (
        <KeyShownOnce raw={rotate.data.raw} onDone={close} />
      ) : (
        <DialogForm
          change={rotate}
          failure="The key was not rotated"
          action="Create new key"
          onSubmit={() => rotatedKey && rotate.mutate({ id: rotatedKey.id, overlapMs: Number(overlap) })}
          onCancel={close}
        >
          <Text size="sm">
            The new key has the same name, permissions and limits. Batches of the old key go on with the new key.
          </Text>
          <Select
            label="The old key"
            data={mayOverlap ? overlapChoices : overlapChoices.slice(0, 1)}
            description={mayOverlap ? undefined : 'Only administrators may create additional keys here.'}
            value={overlap}
            allowDeselect={false}
            onChange={(value) => setChosenOverlap(value ?? '0')}
          />
        </DialogForm>
      )}
    </SecretModal>
  );
}
