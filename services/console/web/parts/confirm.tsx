import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';
import { Failure } from './failure.tsx';

export interface ConfirmProps<Input> {
  title: string;
  children: ReactNode;
  /** The button's label, for example `Revoke key`. */
  action: string;
  /** The label of the button that changes nothing. */
  dismissal?: string;
  change: UseMutationResult<unknown, ApiFailure, Input>;
  /** The input of the change; undefined while the dialog is closed. */
  input: Input | undefined;
  onClose: () => void;
}

/** A dialog that asks the person before it makes a change, and shows the change's failure. */
export function Confirm<Input>({
  title,
  children,
  action,
  dismissal = 'Cancel',
  change,
  input,
  onClose,
}: ConfirmProps<Input>) {
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
            {dismissal}
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
