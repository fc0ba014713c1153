import { Group, Text } from '@mantine/core';

/** How many of a worker's slots are busy. */
export function SlotBar({ busy, slots }: { busy: number; slots: number }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <span className="slots" aria-hidden="true">
        <span style={{ width: `${slots === 0 ? 0 : (busy / slots) * 100}%` }} />
      </span>
      <Text size="sm" className="numeric" style={{ whiteSpace: 'nowrap' }}>
        {busy} of {slots}
      </Text>
    </Group>
  );
}
