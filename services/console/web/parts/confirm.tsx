import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';
import { Failure } from './failure.tsx';

export interface ConfirmProps<Input> {
  title: string;
  /** What will come of it. */
  children: ReactNode;
  /** What the button does, as `Revoke the key`. */
  action: string;
  change: UseMutationResult<unknown, ApiFailure, Input>;
  /** What to do; undefined while nothing is asked. */
  input: Input | undefined;
  onClose: () => void;
}

/** Asks before something that cannot be undone, shows that it is under way, and why it did not work. */
export function Confirm<Input>({ title, children, action, change, input, onClose }: ConfirmProps<Input>) {
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Modal opened={input !== undefined} onClose={close} title={title}>
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
            onClick={() => input !== undefined && change.mutate(input, { onSuccess: close })}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
