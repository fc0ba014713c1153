import { Stack, Switch, Text, Title } from '@mantine/core';
import type { SignInSession } from '../../../contract/sign-in.ts';
import { callApi } from '../../api/call-api.ts';
import { setSession, useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';

export function AlertEmails() {
  const { user } = useSession();
  const changeAlerts = useChange(
    (alertEmails: boolean) => callApi<SignInSession>('PATCH', '/account', { alertEmails }),
    [],
  );
  const description =
    user.role === 'admin'
      ? 'About the router, about your budgets and keys, and about the budgets and keys of teams that you own.'
      : 'About your budgets and keys, and about the budgets and keys of teams that you own.';
  return (
    <section className="panel">
      <Stack gap="sm">
        <Title order={2}>Alerts</Title>
        <Switch
          label="Send me alerts by e-mail"
          description={description}
          checked={user.alertEmails}
          disabled={changeAlerts.isPending}
          onChange={({ currentTarget }) => changeAlerts.mutate(currentTarget.checked, { onSuccess: setSession })}
        />
        <Text size="sm" c="dimmed">
          Alerts are sent to {user.email}, if the router has a mail server.
        </Text>
        {changeAlerts.error ? <Failure title="This was not changed" error={changeAlerts.error} /> : null}
      </Stack>
    </section>
  );
}
