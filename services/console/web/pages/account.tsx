import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { SignInSession } from '../../contract/sign-in.ts';
import type { SecondFactors } from '../../contract/second-factor.ts';
import { callApi } from '../api/call-api.ts';
import { setSession, useSession } from '../api/session.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { deleteConversations } from './playground/saved/open-store.ts';
import { FormFailure } from '../parts/failure.tsx';
import { Page } from '../parts/page.tsx';
import { AlertEmails } from './account/alert-emails.tsx';
import { DeleteAccount } from './account/delete-account.tsx';
import { EmailForm, NameForm } from './account/profile.tsx';
import { Programs } from './account/programs.tsx';
import { SecondFactor } from './account/second-factor.tsx';
import { Sessions } from './account/sessions.tsx';
import { Tokens } from './account/tokens.tsx';
import { PasswordField } from '../parts/password-field.tsx';

/**
 * Shows the signed-in person's account. If an administrator demands a second factor that the person lacks, shows only the parts that the
 * API allows without it.
 */
export function Account() {
  const { user } = useSession();
  const factors = useApi<SecondFactors>('/second-factor', { enabled: user.hasPassword === true });
  const mayChangeAccount = user.hasPassword !== true || factors.data?.demanded === false || factors.error !== null;
  const [signOutScope, setSignOutScope] = useState<'everywhere'>();
  const signOutEverywhere = useChange<'everywhere', void>(async () => {
    await callApi('DELETE', '/sessions');
    deleteConversations(user.id);
    setSession(null);
  }, []);
  return (
    <Page title="Account">
      <section className="panel">
        <Stack gap={4}>
          <Text size="sm" fw={600} className="break">
            {user.name}
          </Text>
          <Text size="sm" className="break">
            {user.email}
          </Text>
          <Text size="sm" c="dimmed">
            {user.role === 'admin' ? 'Administrator' : 'Member'}
            {user.teams.length > 0
              ? ` · ${user.teams.map(({ name, role }) => (role === 'owner' ? `${name} (owner)` : name)).join(', ')}`
              : ''}
          </Text>
        </Stack>
      </section>
      {mayChangeAccount ? <NameForm /> : null}
      {user.hasPassword ? (
        <>
          {mayChangeAccount ? <EmailForm /> : null}
          <PasswordForm email={user.email} />
          <SecondFactor />
        </>
      ) : null}
      {mayChangeAccount ? <AlertEmails /> : null}
      <Sessions />
      {mayChangeAccount ? (
        <>
          <Programs />
          <Tokens />
        </>
      ) : null}
      <section className="panel">
        <Title order={2} mb="xs">
          Sign out everywhere
        </Title>
        <Text size="sm" mb="sm">
          Ends all your sessions, on this and every other device, and signs out your programs. Your keys keep working.
        </Text>
        <Button variant="default" onClick={() => setSignOutScope('everywhere')}>
          Sign out everywhere
        </Button>
      </section>
      {mayChangeAccount ? <DeleteAccount /> : null}
      <Confirm
        title="Sign out everywhere?"
        action="Sign out everywhere"
        change={signOutEverywhere}
        input={signOutScope}
        onClose={() => setSignOutScope(undefined)}
      >
        You have to sign in again, on this device too.
      </Confirm>
    </Page>
  );
}

function PasswordForm({ email }: { email: string }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const changePassword = useChange(
    (input: { current: string; next: string }) => callApi<SignInSession>('POST', '/password', input),
    [],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const onSuccess = (session: SignInSession): void => {
      setCurrent('');
      setNext('');
      setSession(session);
    };
    changePassword.mutate({ current, next }, { onSuccess });
  };
  const { error } = changePassword;
  return (
    <form className="panel" onSubmit={onSubmit}>
      <Stack gap="sm" maw="24rem">
        <Title order={2}>Password</Title>
        <input type="hidden" name="username" autoComplete="username" value={email} />
        <PasswordField
          label="Current password"
          value={current}
          error={error?.findProblem('current')}
          onChange={setCurrent}
        />
        <PasswordField
          label="New password"
          description="At least 10 characters"
          isNew
          value={next}
          error={error?.findProblem('next')}
          onChange={setNext}
        />
        <FormFailure title="The password was not changed" error={error} inputs={['current', 'next']} />
        {changePassword.isSuccess ? (
          <Text size="sm" role="status">
            The password is changed. You are signed out everywhere else.
          </Text>
        ) : null}
        <Group>
          <Button type="submit" loading={changePassword.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
