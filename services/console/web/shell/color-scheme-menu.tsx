import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { Icon, type IconName } from '../parts/icon.tsx';

const schemes: Record<MantineColorScheme, { name: string; icon: IconName }> = {
  auto: { name: 'As the system', icon: 'system' },
  light: { name: 'Light', icon: 'sun' },
  dark: { name: 'Dark', icon: 'moon' },
};

/** Light, dark, or as the system has it. */
export function ColorSchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Colours: ${schemes[colorScheme].name}`}>
          <Icon name={schemes[colorScheme].icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['auto', 'light', 'dark'] as const).map((scheme) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={schemes[scheme].icon} size={16} />}
            rightSection={scheme === colorScheme ? <Icon name="check" size={14} /> : null}
            aria-checked={scheme === colorScheme}
            role="menuitemradio"
            onClick={() => setColorScheme(scheme)}
          >
            {schemes[scheme].name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
