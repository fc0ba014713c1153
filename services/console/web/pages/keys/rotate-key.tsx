import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key } from '../../../contract/account.ts';
import { callApi } from '../../api/call-api.ts';
import { useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';
import { OnceModal } from '../../parts/once-modal.tsx';
import { keyRightsOf } from './key-rights.ts';
import { ShownOnce } from './new-key.tsx';

const hourMs = 3_600_000;

const overlaps = [
  { value: '0', label: 'expires now' },
  { value: String(hourMs), label: 'expires in an hour' },
  { value: String(24 * hourMs), label: 'expires in a day' },
  { value: String(7 * 24 * hourMs), label: 'expires in a week' },
];

/** Replaces a key by a new one with the same settings. The old one can stay valid for a while. */
export function RotateKey({ rotating, onClose }: { rotating: Key | undefined; onClose: () => void }) {
  const { user } = useSession();
  const mayOverlap = !rotating || keyRightsOf(rotating, user).overlap;
  const [chosen, setOverlap] = useState(String(24 * hourMs));
  const overlap = mayOverlap ? chosen : '0';
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
    <OnceModal
      opened={rotating !== undefined}
      onClose={close}
      title={rotate.data ? 'Your new key' : `Rotate ${rotating?.name ?? ''}`}
      size="lg"
      showsSecret={rotate.data !== undefined}
    >
      {rotate.data ? (
        <ShownOnce raw={rotate.data.raw} onDone={close} />
      ) : (
        <Stack gap="sm">
          <Text size="sm">
            The new key has the same name, permissions and limits. Batches of the old one go on with it.
          </Text>
          <Select
            label="The old key"
            data={mayOverlap ? overlaps : overlaps.slice(0, 1)}
            description={mayOverlap ? undefined : 'Only administrators make a key beside another one here.'}
            value={overlap}
            allowDeselect={false}
            onChange={(value) => setOverlap(value ?? '0')}
          />
          {rotate.error ? <Failure title="The key was not rotated" error={rotate.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              loading={rotate.isPending}
              onClick={() => rotating && rotate.mutate({ id: rotating.id, overlapMs: Number(overlap) })}
            >
              Create new key
            </Button>
          </Group>
        </Stack>
      )}
    </OnceModal>
  );
}
