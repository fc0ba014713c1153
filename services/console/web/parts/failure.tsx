import { Alert, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiFailure } from '../api/call-api.ts';

export interface FailureProps {
  /** The failed action, for example `The key was not created`. */
  title: string;
  error: Error;
  onRetry?: (() => void) | undefined;
  children?: ReactNode;
}

export function Failure({ title, error, onRetry, children }: FailureProps) {
  return (
    <Alert
      color="red"
      variant="outline"
      title={title}
      role="alert"
      styles={{ title: { color: 'var(--mantine-color-error)' } }}
    >
      <Text size="sm" className="break">
        {error.message}
      </Text>
      {children}
      {onRetry ? (
        <Group mt="xs">
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </Group>
      ) : null}
    </Alert>
  );
}

export interface FormFailureProps {
  /** The failed action, for example `The key was not created`. */
  title: string;
  error: ApiFailure | null;
  /** The contract's names for the inputs that show their own problem. */
  inputs: readonly string[];
}

/** Shows why a form failed, unless one of its inputs shows that. */
export function FormFailure({ title, error, inputs }: FormFailureProps) {
  if (!error || inputs.some((input) => error.findProblem(input) !== undefined)) return null;
  return <Failure title={title} error={error} />;
}
