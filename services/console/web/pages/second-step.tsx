import { startAuthentication } from '@simplewebauthn/browser';
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { SignInSession } from '../../contract/account.ts';
import type { PasskeyOptions, SecondStep as Step, SecondStepNeeded } from '../../contract/second-factor.ts';
import { callApi } from '../api/call-api.ts';
import { useChange } from '../api/use-api.ts';
import { Failure } from '../parts/failure.tsx';

export interface SecondStepProps {
  needed: SecondStepNeeded['secondStep'];
  onSession: (session: SignInSession) => void;
  onBack: () => void;
}

export function SecondStep({ needed, onSession, onBack }: SecondStepProps) {
  const [code, setCode] = useState('');
  const send = useChange((step: Step) => callApi<SignInSession>('POST', '/session/second', step), []);
  const prove = useChange<void, SignInSession>(async () => {
    const optionsJSON = await callApi<PasskeyOptions>('POST', '/session/second/passkey');
    const passkey = await startAuthentication({ optionsJSON });
    return callApi<SignInSession>('POST', '/session/second', { passkey } satisfies Step);
  }, []);
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    send.mutate({ code }, { onSuccess: onSession });
  };
  return (
    <Stack>
      {needed.passkeys ? (
        <Button loading={prove.isPending} onClick={() => prove.mutate(undefined, { onSuccess: onSession })}>
          Use a passkey
        </Button>
      ) : null}
      {prove.error ? <Failure title="The passkey was not accepted" error={prove.error} /> : null}
      <form onSubmit={onSubmit}>
        <Stack>
          <TextInput
            label={needed.app ? 'Code of your authenticator app, or a recovery code' : 'Recovery code'}
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
          {send.error ? <Failure title="You are not signed in" error={send.error} /> : null}
          <Button type="submit" variant={needed.passkeys ? 'default' : 'filled'} loading={send.isPending}>
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
