import { Button, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { useSearch } from 'wouter';
import type { WaitingProgram } from '../../contract/sessions.ts';
import { callApi, type ApiFailure } from '../api/call-api.ts';
import { useSession } from '../api/session.ts';
import { useChange } from '../api/use-api.ts';
import { Failure } from '../parts/failure.tsx';
import { InsecureNotice } from '../parts/insecure-notice.tsx';
import { Page } from '../parts/page.tsx';

/** Lets a person approve or deny the sign-in of a program. The person enters the code that the program shows. */
export function Device() {
  const codeInUrl = new URLSearchParams(useSearch()).get('code') ?? '';
  const [enteredCode, setEnteredCode] = useState(codeInUrl);
  const [decision, setDecision] = useState<'approve' | 'deny'>();
  const findProgram = useChange<string, FoundProgram>(
    async (code) => ({ code, program: await callApi<WaitingProgram>('POST', `${buildPath(code)}/find`) }),
    [],
  );
  // A code in the URL is looked up only when the person submits it. Otherwise another person's link could use up the tries.
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    findProgram.mutate(enteredCode.trim());
  };
  return (
    <Page title="Sign in a program">
      {decision === undefined ? (
        <>
          <InsecureNotice>
            Over plain http, a program signs in only if the router runs on the same machine as the program. Others on
            the network can read what you do on this page.
          </InsecureNotice>
          <form className="panel" onSubmit={onSubmit}>
            <Group align="end">
              <TextInput
                label="Code that the program shows"
                placeholder="BCDF-GHJK"
                autoComplete="off"
                autoCapitalize="characters"
                spellCheck={false}
                required
                withAsterisk={false}
                maxLength={20}
                value={enteredCode}
                onChange={({ currentTarget }) => setEnteredCode(currentTarget.value)}
              />
              <Button type="submit" variant="default" loading={findProgram.isPending}>
                Continue
              </Button>
            </Group>
          </form>
          {findProgram.error ? <LookupFailure error={findProgram.error} /> : null}
          {findProgram.data ? (
            <Decision key={findProgram.data.code} foundProgram={findProgram.data} onDone={setDecision} />
          ) : null}
        </>
      ) : (
        <section className="panel">
          <Text role="status">
            {decision === 'approve'
              ? 'The program is signed in. You can close this page. To sign the program out again, open your account page.'
              : 'The program was not signed in. You can close this page.'}
          </Text>
        </section>
      )}
    </Page>
  );
}

interface FoundProgram {
  code: string;
  program: WaitingProgram;
}

function buildPath(code: string): string {
  return `/devices/${encodeURIComponent(code)}`;
}

function LookupFailure({ error }: { error: ApiFailure }) {
  if (error.code === 'no_device') return <Failure title="There is no program with this code" error={error} />;
  // While the router is updated, this page may be newer than the ingress that answers.
  const hasNoRoute = error.code === 'not_found';
  const shownError = hasNoRoute ? new Error('The router is being updated. Reload this page, and try again.') : error;
  return <Failure title="The program could not be looked up" error={shownError} />;
}

interface DecisionProps {
  foundProgram: FoundProgram;
  onDone: (decision: 'approve' | 'deny') => void;
}

function Decision({ foundProgram: { code, program }, onDone }: DecisionProps) {
  const { client, address } = program;
  const { user } = useSession();
  const [teamId, setTeamId] = useState('');
  const decide = useChange<'approve' | 'deny', void>(
    (decision) =>
      callApi('POST', buildPath(code), { decision, ...(teamId !== '' && decision === 'approve' && { teamId }) }),
    [],
  );
  const accountChoices = [
    { value: '', label: `${user.name} (you)` },
    ...user.teams.map(({ id, name }) => ({ value: id, label: `Team ${name}` })),
  ];
  return (
    <section className="panel" aria-labelledby="program">
      <Stack gap="sm" maw="32rem">
        <Title order={2} id="program" className="break">
          {client}
        </Title>
        <Text size="sm">
          A program that calls itself {client} wants to use the models of this router for you. It started to sign in
          from the address {address}.
        </Text>
        <Text size="sm" fw={600}>
          Approve the program only if you have just started it yourself, and it shows the code {code.toUpperCase()}. If
          somebody sent you this code, deny the program. Otherwise, that person can use your account.
        </Text>
        {user.teams.length > 0 ? (
          <Select
            label="Account"
            description="The limits of this account apply, and this account is billed"
            data={accountChoices}
            value={teamId}
            allowDeselect={false}
            onChange={(value) => setTeamId(value ?? '')}
          />
        ) : null}
        {decide.error ? <Failure title="Nothing was decided" error={decide.error} /> : null}
        <Group>
          <Button
            loading={decide.isPending}
            onClick={() => decide.mutate('approve', { onSuccess: () => onDone('approve') })}
          >
            Sign in the program
          </Button>
          <Button
            variant="default"
            disabled={decide.isPending}
            onClick={() => decide.mutate('deny', { onSuccess: () => onDone('deny') })}
          >
            Deny
          </Button>
        </Group>
      </Stack>
    </section>
  );
}
