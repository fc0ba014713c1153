import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core';
import { Icon, type IconName } from '../parts/icon.tsx';

const schemes: Record<MantineColorScheme, { name: string; icon: IconName }> = {
  auto: { name: 'System', icon: 'system' },
  light: { name: 'Light', icon: 'sun' },
  dark: { name: 'Dark', icon: 'moon' },
};

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
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}>
          {(['auto', 'light', 'dark'] as const).map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme} closeMenuOnClick>
              {schemes[scheme].name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
