import { Alert, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

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
