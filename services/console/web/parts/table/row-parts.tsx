import { ActionIcon, Group, Menu, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../icon.tsx';

export interface RowNameProps {
  name: string;
  /** The small text below the name. */
  details?: ReactNode;
  /** Marks beside the name. */
  children?: ReactNode;
}

/** The cell that names a row. */
export function RowName({ name, details, children }: RowNameProps) {
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={600} className="break">
          {name}
        </Text>
        {children}
      </Group>
      {details === undefined ? null : (
        <Text component="div" size="xs" c="dimmed" className="break">
          {details}
        </Text>
      )}
    </div>
  );
}

/** The button that opens the menu of a row's actions. */
export function RowMenu({ rowName, children }: { rowName: string; children: ReactNode }) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" aria-label={`Actions for ${rowName}`}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}
