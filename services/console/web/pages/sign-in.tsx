import { Button, Divider, Stack, Text, TextInput, Title } from '@mantine/core';
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
import { PasswordField } from '../parts/password-field.tsx';

export interface SignInProps {
  /** The failure of a session that exists but cannot be used now; absent if there is no session. */
  sessionFailure?: Pick<FailureProps, 'error' | 'onRetry'>;
}

export function SignIn({ sessionFailure }: SignInProps) {
  const signInWays = useApi<SignInWays>('/sign-in');
  const { to, reason: requestedReason } = useRequestedPage();
  const reason = requestedReason ?? (isEndedByPolicy() ? localAccountsOff : null);
  return (
    <Frame>
      <Stack>
        <Title order={1}>Sign in</Title>
        {isKnownReason(reason) ? (
          <Failure title="You are not signed in" error={new Error(signInFailures[reason])} />
        ) : null}
        {sessionFailure ? <Failure title="Your session cannot be used at the moment" {...sessionFailure} /> : null}
        <Loaded query={signInWays} contentName="the ways to sign in">
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
              {localAccounts ? <LocalSignIn /> : null}
            </>
          )}
        </Loaded>
      </Stack>
    </Frame>
  );
}

function isKnownReason(reason: string | null): reason is keyof typeof signInFailures {
  return reason !== null && Object.hasOwn(signInFailures, reason);
}

function LocalSignIn() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [neededStep, setNeededStep] = useState<SecondStepNeeded['secondStep']>();
  const signIn = useChange(
    (input: { email: string; password: string }) => callApi<SignInAnswer>('POST', '/session', input),
    [],
  );
  const onSuccess = (answer: SignInAnswer): void => {
    if ('secondStep' in answer) setNeededStep(answer.secondStep);
    else setSession(answer);
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.mutate({ email, password }, { onSuccess });
  };
  if (neededStep)
    return <SecondStep neededStep={neededStep} onSignedIn={setSession} onBack={() => setNeededStep(undefined)} />;
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
        <PasswordField label="Password" value={password} onChange={setPassword} />
        {signIn.error ? <Failure title="You are not signed in" error={signIn.error} /> : null}
        <Button type="submit" loading={signIn.isPending}>
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          No account yet? Open the link of your invitation. The router prints a link for the first account when it
          starts. <code>rtr admin link</code> prints a new link, also for a lost password.
        </Text>
      </Stack>
    </form>
  );
}
