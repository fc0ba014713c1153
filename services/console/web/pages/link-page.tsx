import { Button, Stack, Text, TextInput, Title } from '@mantine/core';
import { useEffect, useState, type SyntheticEvent } from 'react';
import { Link as Anchor, useLocation } from 'wouter';
import type { Link, SignInSession } from '../../contract/sign-in.ts';
import type { SecondStepNeeded, SignInAnswer } from '../../contract/second-factor.ts';
import { callApi } from '../api/call-api.ts';
import { setSession } from '../api/session.ts';
import { useApi, useChange } from '../api/use-api.ts';
import { Failure, FormFailure } from '../parts/failure.tsx';
import { Loading } from '../parts/loaded.tsx';
import { Frame } from '../shell/frame.tsx';
import { SecondStep } from './second-step.tsx';
import { PasswordField } from '../parts/password-field.tsx';

export function LinkPage({ token }: { token: string }) {
  const path = `/links/${encodeURIComponent(token)}`;
  const link = useApi<Link>(path);
  useEffect(() => {
    document.title = 'Welcome · Model Router';
  }, []);
  return (
    <Frame>
      {link.data ? <LinkForm path={path} link={link.data} /> : null}
      {link.isPending ? <Loading contentName="the link" /> : null}
      {link.error && !link.data ? (
        <Failure
          title="This link cannot be used"
          error={
            link.error.status === 404
              ? new Error(
                  'The link was already used or has expired. Ask the sender for a new link. The first administrator gets one with: rtr admin link',
                )
              : link.error
          }
          onRetry={link.error.status === 404 ? undefined : () => void link.refetch()}
        >
          <Anchor href="/">Go to sign-in</Anchor>
        </Failure>
      ) : null}
    </Frame>
  );
}

const introductions: Record<Link['kind'], string> = {
  'first-admin': 'This is the first account. It can invite others and change everything.',
  invitation: 'You are invited. Choose your name and a password.',
  password: 'Choose a new password for your account. You are signed out everywhere else.',
};

function LinkForm({ path, link: { kind, email: invitedEmail } }: { path: string; link: Link }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invitedEmail ?? '');
  const [password, setPassword] = useState('');
  const submitForm = useChange(
    (input: { name: string; email: string; password: string }) => callApi<SignInAnswer>('POST', path, input),
    [],
  );
  const [neededStep, setNeededStep] = useState<SecondStepNeeded['secondStep']>();
  const signIn = (session: SignInSession): void => {
    setSession(session);
    navigate('/', { replace: true });
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const onSuccess = (answer: SignInAnswer): void => {
      if ('secondStep' in answer) setNeededStep(answer.secondStep);
      else signIn(answer);
    };
    submitForm.mutate({ name, email, password }, { onSuccess });
  };
  if (neededStep)
    return <SecondStep neededStep={neededStep} onSignedIn={signIn} onBack={() => navigate('/', { replace: true })} />;
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <div>
          <Title order={1}>Welcome</Title>
          <Text size="sm" c="dimmed">
            {introductions[kind]}
          </Text>
        </div>
        {kind === 'password' ? null : (
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            withAsterisk={false}
            maxLength={100}
            value={name}
            error={submitForm.error?.findProblem('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
        <TextInput
          label="E-mail"
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          readOnly={invitedEmail !== undefined}
          value={email}
          error={submitForm.error?.findProblem('email')}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordField
          label="Password"
          description="At least 10 characters; a few unrelated words are best"
          isNew
          value={password}
          error={submitForm.error?.findProblem('password')}
          onChange={setPassword}
        />
        <FormFailure
          title={kind === 'password' ? 'The password was not set' : 'The account was not created'}
          error={submitForm.error}
          inputs={['name', 'email', 'password']}
        />
        <Button type="submit" loading={submitForm.isPending}>
          {kind === 'password' ? 'Set password' : 'Create account'}
        </Button>
      </Stack>
    </form>
  );
}
