import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key } from '../../../contract/account.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';
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
  const [overlap, setOverlap] = useState(String(24 * hourMs));
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
    <Modal
      opened={rotating !== undefined}
      onClose={close}
      title={rotate.data ? 'Your new key' : `Rotate ${rotating?.name ?? ''}`}
      size="lg"
      closeOnClickOutside={!rotate.data}
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
            data={overlaps}
            value={overlap}
            allowDeselect={false}
            onChange={(chosen) => setOverlap(chosen ?? '0')}
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
    </Modal>
  );
}
