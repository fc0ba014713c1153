import { Button, Divider, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { SecondStepNeeded, SignInAnswer } from '../../contract/second-factor.ts';
import { localAccountsOff, signInFailures, type SignInWays } from '../../contract/sign-in.ts';
import { callApi } from '../api/call-api.ts';
import { isEndedByPolicy, setSession } from '../api/session.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { Failure, type FailureProps } from '../parts/failure.tsx';
import { InsecureNotice } from '../parts/insecure-notice.tsx';
import { Loaded } from '../parts/loaded.tsx';
import { useRequestedPage } from '../parts/use-requested-page.ts';
import { Frame } from '../shell/frame.tsx';
import { SecondStep } from './second-step.tsx';

export interface SignInProps {
  /** The reason why the person's session, which exists, does not count at this moment. */
  waiting?: Pick<FailureProps, 'error' | 'onRetry'>;
}

export function SignIn({ waiting }: SignInProps) {
  const ways = useApi<SignInWays>('/sign-in');
  const { to, reason: asked } = useRequestedPage();
  const reason = asked ?? (isEndedByPolicy() ? localAccountsOff : null);
  return (
    <Frame>
      <Stack>
        <Title order={1}>Sign in</Title>
        {isFailure(reason) ? <Failure title="You are not signed in" error={new Error(signInFailures[reason])} /> : null}
        {waiting ? <Failure title="Your session has to wait" {...waiting} /> : null}
        <Loaded query={ways} contentName="the ways to sign in">
          {({ providers, localAccounts }) => (
            <>
              {providers.map(({ name, label }) => (
                <Button
                  key={name}
                  component="a"
                  href={`/console/api/oidc/${name}/start?to=${encodeURIComponent(to)}`}
                  variant={localAccounts ? 'default' : 'filled'}
                >
                  Sign in with {label}
                </Button>
              ))}
              {providers.length > 0 && localAccounts ? <Divider label="or" /> : null}
              {localAccounts ? <LocalAccount /> : null}
            </>
          )}
        </Loaded>
      </Stack>
    </Frame>
  );
}

function isFailure(reason: string | null): reason is keyof typeof signInFailures {
  return reason !== null && Object.hasOwn(signInFailures, reason);
}

function LocalAccount() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [needed, setNeeded] = useState<SecondStepNeeded['secondStep']>();
  const signIn = useChange(
    (input: { email: string; password: string }) => callApi<SignInAnswer>('POST', '/session', input),
    [],
  );
  const onSuccess = (answer: SignInAnswer): void => {
    if ('secondStep' in answer) setNeeded(answer.secondStep);
    else setSession(answer);
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate({ email, password }, { onSuccess });
  };
  if (needed) return <SecondStep needed={needed} onSession={setSession} onBack={() => setNeeded(undefined)} />;
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <InsecureNotice>Your password can be read on the way.</InsecureNotice>
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
  );
}
