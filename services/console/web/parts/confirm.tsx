import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';
import { Failure } from './failure.tsx';

export interface ConfirmProps<Wish> {
  title: string;
  /** What will come of it. */
  children: ReactNode;
  /** What the button does, as `Revoke the key`. */
  action: string;
  change: UseMutationResult<unknown, ApiFailure, Wish>;
  /** What to do; undefined while nothing is asked. */
  wish: Wish | undefined;
  onClose: () => void;
}

/** Asks before something that cannot be undone, shows that it is under way, and why it did not work. */
export function Confirm<Wish>({ title, children, action, change, wish, onClose }: ConfirmProps<Wish>) {
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Modal opened={wish !== undefined} onClose={close} title={title}>
      <Stack>
        <Text component="div" size="sm">
          {children}
        </Text>
        {change.error ? <Failure title="That did not work" error={change.error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button
            color="red.8"
            loading={change.isPending}
            onClick={() => wish !== undefined && change.mutate(wish, { onSuccess: close })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
