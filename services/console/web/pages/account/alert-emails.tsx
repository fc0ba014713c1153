import { Stack, Switch, Text, Title } from '@mantine/core';
import type { SignInSession } from '../../../contract/account.ts';
import { callApi } from '../../api/call-api.ts';
import { setSession, useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { Failure } from '../../parts/failure.tsx';

export function AlertEmails() {
  const { user } = useSession();
  const change = useChange((alertEmails: boolean) => callApi<SignInSession>('PATCH', '/account', { alertEmails }), []);
  const subjects =
    user.role === 'admin'
      ? 'About your budgets and keys, those of teams that you own, and the router.'
      : 'About your budgets and keys, and those of teams that you own.';
  return (
    <section className="panel">
      <Stack gap="sm">
        <Title order={2}>Alerts</Title>
        <Switch
          label="Send me alerts by e-mail"
          description={subjects}
          checked={user.alertEmails}
          disabled={change.isPending}
          onChange={({ currentTarget }) => change.mutate(currentTarget.checked, { onSuccess: setSession })}
        />
        <Text size="sm" c="dimmed">
          Alerts are sent to {user.email}, if the router has a mail server.
        </Text>
        {change.error ? <Failure title="This was not changed" error={change.error} /> : null}
      </Stack>
    </section>
  );
}
