import { ActionIcon, Menu, Text } from '@mantine/core';
import { useLocation } from 'wouter';
import type { SignOutAnswer } from '../../contract/sign-in.ts';
import { callApi } from '../api/call-api.ts';
import { setSession, useSession } from '../api/session.ts';
import { useChange } from '../api/use-api.ts';
import { Icon } from '../parts/icon.tsx';
import { deleteConversations } from '../pages/playground/saved/open-store.ts';
import { timeZones, type TimeZone } from '../parts/time-zone.ts';
import { chooseTimeZone, findLocalZoneName, useTimeZone } from '../parts/use-time-zone.ts';

export function AccountMenu() {
  const { user } = useSession();
  const [, go] = useLocation();
  const signOut = useChange(() => callApi<SignOutAnswer | undefined>('DELETE', '/session'), []);
  const afterSignOut = (answer: SignOutAnswer | undefined): void => {
    deleteConversations(user.id);
    // The provider has a session of its own, which the provider's page ends.
    if (answer) window.location.assign(answer.url);
    else setSession(null);
  };
  return (
    <Menu position="bottom-end" withinPortal closeOnItemClick={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Account of ${user.name}`}>
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} className="break">
            {user.name}
          </Text>
          <Text size="xs" className="break">
            {user.email}
          </Text>
        </Menu.Label>
        <Menu.Item closeMenuOnClick onClick={() => go('/account')}>
          Account and password
        </Menu.Item>
        <Menu.Divider />
        <TimeZoneChoice />
        <Menu.Divider />
        <Menu.Item disabled={signOut.isPending} onClick={() => signOut.mutate(undefined, { onSuccess: afterSignOut })}>
          {signOut.isPending ? 'Signing out…' : signOut.error ? 'Sign out failed: try again' : 'Sign out'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function TimeZoneChoice() {
  const zone = useTimeZone();
  const names: Record<TimeZone, string> = { local: `Local time (${findLocalZoneName()})`, utc: 'UTC' };
  return (
    <>
      <Menu.Label>Times</Menu.Label>
      <Menu.RadioGroup value={zone} onChange={(chosen) => chooseTimeZone(chosen as TimeZone)}>
        {timeZones.map((each) => (
          <Menu.RadioItem key={each} value={each} closeMenuOnClick>
            {names[each]}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  );
}
