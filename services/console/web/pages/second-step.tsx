import { startAuthentication } from '@simplewebauthn/browser';
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { SignInSession } from '../../contract/sign-in.ts';
import type { PasskeyOptions, SecondStep as Step, SecondStepNeeded } from '../../contract/second-factor.ts';
import { callApi } from '../api/call-api.ts';
import { useChange } from '../api/use-api.ts';
import { Failure } from '../parts/failure.tsx';

export interface SecondStepProps {
  neededStep: SecondStepNeeded['secondStep'];
  onSignedIn: (session: SignInSession) => void;
  onBack: () => void;
}

export function SecondStep({ neededStep, onSignedIn, onBack }: SecondStepProps) {
  const [code, setCode] = useState('');
  const sendCode = useChange((step: Step) => callApi<SignInSession>('POST', '/session/second', step), []);
  const provePasskey = useChange<void, SignInSession>(async () => {
    const optionsJSON = await callApi<PasskeyOptions>('POST', '/session/second/passkey');
    const passkey = await startAuthentication({ optionsJSON });
    return callApi<SignInSession>('POST', '/session/second', { passkey } satisfies Step);
  }, []);
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    sendCode.mutate({ code }, { onSuccess: onSignedIn });
  };
  return (
    <Stack>
      {neededStep.passkeys ? (
        <Button
          loading={provePasskey.isPending}
          onClick={() => provePasskey.mutate(undefined, { onSuccess: onSignedIn })}
        >
          Use a passkey
        </Button>
      ) : null}
      {provePasskey.error ? <Failure title="The passkey was not accepted" error={provePasskey.error} /> : null}
      <form onSubmit={onSubmit}>
        <Stack>
          <TextInput
            label={neededStep.app ? 'Code of your authenticator app, or a recovery code' : 'Recovery code'}
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            required
            withAsterisk={false}
            maxLength={40}
            autoFocus
            value={code}
            onChange={({ currentTarget }) => setCode(currentTarget.value)}
          />
          {sendCode.error ? <Failure title="You are not signed in" error={sendCode.error} /> : null}
          <Button type="submit" variant={neededStep.passkeys ? 'default' : 'filled'} loading={sendCode.isPending}>
            Continue
          </Button>
        </Stack>
      </form>
      <Text size="xs" c="dimmed">
        An administrator can remove the second factor of your account if you have lost it.
      </Text>
      <Button variant="subtle" onClick={onBack}>
        Back to the password
      </Button>
    </Stack>
  );
}
