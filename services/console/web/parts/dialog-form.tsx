import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';
import { FormFailure } from './failure.tsx';

export interface DialogFormProps {
  children: ReactNode;
  /** The change that the form makes. */
  change: { error: ApiFailure | null; isPending: boolean };
  /** The failed action, for example `The key was not created`. */
  failure: string;
  /** The contract's names for the inputs that show their own problem. */
  inputs?: readonly string[];
  /** The label of the button that sends the form, for example `Create key`. */
  action: string;
  /** Whether the form may be sent. Default: true. */
  isReady?: boolean;
  onSubmit: () => void;
  /** Absent if the dialog has no button that changes nothing. */
  onCancel?: () => void;
}

/** The form of a dialog: inputs, why its change failed, and the buttons. */
export function DialogForm({
  children,
  change,
  failure,
  inputs = [],
  action,
  isReady = true,
  onSubmit,
  onCancel,
}: DialogFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Stack gap="sm">
        {children}
        <FormFailure title={failure} error={change.error} inputs={inputs} />
        <Group justify="flex-end">
          {onCancel ? (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          ) : null}
          <Button type="submit" loading={change.isPending} disabled={!isReady}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
