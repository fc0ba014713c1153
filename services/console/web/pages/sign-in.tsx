import { Button, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { Session } from '../../contract/account.ts';
import { callApi } from '../api/call-api.ts';
import { setSession } from '../api/session.ts';
import { useChange } from '../api/use-api.ts';
import { Failure } from '../parts/failure.tsx';
import { Frame } from '../shell/frame.tsx';

/** The sign-in form. It then shows the requested page. */
export function SignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useChange(
    (input: { email: string; password: string }) => callApi<Session>('POST', '/session', input),
    [],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate({ email, password }, { onSuccess: setSession });
  };
  return (
    <Frame>
      <form onSubmit={onSubmit}>
        <Stack>
          <Title order={1}>Sign in</Title>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
          {signIn.error ? <Failure title="You are not signed in" error={signIn.error} /> : null}
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          <Text size="xs" c="dimmed">
            No account yet? Open the link of your invitation. The router prints a link for the first account when it
            starts. <code>npx rtr admin link</code> prints a new one, also for a lost password.
          </Text>
        </Stack>
      </form>
    </Frame>
  );
}
