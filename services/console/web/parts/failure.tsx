import { Alert, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface FailureProps {
  /** What did not work, as `The key was not created`. */
  title: string;
  error: Error;
  onRetry?: (() => void) | undefined;
  /** What else can be done. */
  children?: ReactNode;
}

/** Says what happened and what can be done about it. */
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
