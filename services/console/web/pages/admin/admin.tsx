import { Tabs } from '@mantine/core';
import { useLocation, useParams } from 'wouter';
import { Page } from '../../parts/page.tsx';
import { Audit } from './audit.tsx';
import { BackgroundWork } from './background-work.tsx';
import { Invitations } from './invitations.tsx';
import { Prices } from './prices.tsx';
import { Registry } from './registry/registry.tsx';
import { RouterKeys } from './router-keys.tsx';
import { SettingsForm } from './settings-form.tsx';
import { Teams } from './teams.tsx';
import { Users } from './users.tsx';

const tabs = [
  { id: 'people', name: 'People', Panel: Users },
  { id: 'invitations', name: 'Invitations', Panel: Invitations },
  { id: 'teams', name: 'Teams', Panel: Teams },
  { id: 'router-keys', name: 'Router keys', Panel: RouterKeys },
  { id: 'registry', name: 'Registry', Panel: Registry },
  { id: 'prices', name: 'Prices', Panel: Prices },
  { id: 'background', name: 'Background', Panel: BackgroundWork },
  { id: 'audit', name: 'Audit', Panel: Audit },
  { id: 'settings', name: 'Settings', Panel: SettingsForm },
] as const;

export function Admin() {
  const [, go] = useLocation();
  const requestedTab = useParams()['*'];
  const shownTab = tabs.find(({ id }) => id === requestedTab)?.id ?? 'people';
  return (
    <Page title="Admin">
      <Tabs value={shownTab} onChange={(id) => go(`/admin/${id ?? ''}`)} keepMounted={false}>
        <Tabs.List aria-label="Administration" mb="md">
          {tabs.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map(({ id, Panel }) => (
          <Tabs.Panel key={id} value={id}>
            <Panel />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
