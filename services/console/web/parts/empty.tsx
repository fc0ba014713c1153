import { Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Stands where a list has nothing to show, and says what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md" ta="center">
      <Title order={2} size="h3">
        {title}
      </Title>
      <Text component="div" size="sm" c="dimmed" maw="34rem">
        {children}
      </Text>
    </Stack>
  );
}
