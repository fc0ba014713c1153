import { Center, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** The frame of the pages before the sign-in. */
export function Frame({ children }: { children: ReactNode }) {
  return (
    <Center component="main" mih="100dvh" p="md">
      <div style={{ width: 'min(24rem, 100%)' }}>
        <Brand />
        <div className="panel" style={{ marginBlockStart: '1rem', padding: '1.25rem' }}>
          {children}
        </div>
      </div>
    </Center>
  );
}

export function Brand() {
  return (
    <Group gap="xs" wrap="nowrap">
      <img src="/icon.svg" width="26" height="26" alt="" />
      <Text fw={600}>Model Router</Text>
    </Group>
  );
}
