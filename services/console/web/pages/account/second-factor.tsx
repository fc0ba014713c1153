import { startRegistration } from '@simplewebauthn/browser';
import { Button, Group, List, Modal, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type {
  NewApp,
  NewPasskey,
  NewPasskeyOptions,
  RecoveryCodes,
  SecondFactors,
} from '../../../contract/second-factor.ts';
import { callApi } from '../../api/call-api.ts';
import { refreshAnswers, useApi, useChange } from '../../api/use-api.ts';
import { FormFailure } from '../../parts/failure.tsx';
import { formatAgo } from '../../parts/format.ts';
import { InsecureNotice } from '../../parts/insecure-notice.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { PasswordField } from '../../parts/password-field.tsx';

const factorsPath = '/second-factor';

/** A change of the second factors. Each change needs the person's password. */
type Task = 'add app' | 'remove app' | 'add passkey' | 'renew codes' | { passkeyToRemove: string };

export function SecondFactor() {
  const factors = useApi<SecondFactors>(factorsPath);
  const [task, setTask] = useState<Task>();
  const [codes, setCodes] = useState<string[]>([]);
  const onDone = (newCodes: string[]): void => {
    setTask(undefined);
    setCodes(newCodes);
    void refreshAnswers([factorsPath]);
  };
  return (
    <section className="panel" aria-labelledby="second-factor">
      <Title order={2} id="second-factor" mb="xs">
        Second factor
      </Title>
      <Loaded query={factors} contentName="the second factors">
        {({ app, passkeys, recoveryCodesLeft, demanded }) => (
          <Stack gap="sm">
            {demanded ? (
              <Text size="sm" fw={600} role="alert">
                Your administrator demands a second factor. Set one up to go on.
              </Text>
            ) : null}
            {demanded ? (
              <Text size="sm">
                You see the rest of this page and of the console once you have a second factor. Your keys, and the
                programs that you have signed in, keep working. <em>Sign out everywhere</em> signs these programs out
                now.
              </Text>
            ) : null}
            <Text size="sm">
              {app || passkeys.length > 0
                ? `Besides your password, a sign-in asks for one of these. You have ${recoveryCodesLeft} recovery codes left.`
                : 'A sign-in asks for your password only.'}
            </Text>
            {passkeys.length > 0 ? (
              <List size="sm">
                {passkeys.map(({ id, name, createdAt }) => (
                  <List.Item key={id}>
                    <Group gap="xs">
                      <span className="break">
                        {name}, a passkey, added {formatAgo(createdAt)}
                      </span>
                      <Button
                        size="compact-xs"
                        variant="default"
                        aria-label={`Remove the passkey ${name}`}
                        onClick={() => setTask({ passkeyToRemove: id })}
                      >
                        Remove
                      </Button>
                    </Group>
                  </List.Item>
                ))}
              </List>
            ) : null}
            <Group>
              <Button variant="default" onClick={() => setTask(app ? 'remove app' : 'add app')}>
                {app ? 'Remove the authenticator app' : 'Set up an authenticator app'}
              </Button>
              <Button variant="default" disabled={!window.isSecureContext} onClick={() => setTask('add passkey')}>
                Add a passkey
              </Button>
              {app || passkeys.length > 0 ? (
                <Button variant="default" onClick={() => setTask('renew codes')}>
                  New recovery codes
                </Button>
              ) : null}
            </Group>
            <InsecureNotice>
              Browsers have passkeys only on pages with TLS, and on the machine of the router. An authenticator app
              works on this page too.
            </InsecureNotice>
          </Stack>
        )}
      </Loaded>
      <Modal opened={task !== undefined} onClose={() => setTask(undefined)} title="Second factor">
        {task === undefined ? null : <TaskForm task={task} onDone={onDone} />}
      </Modal>
      <SecretModal
        opened={codes.length > 0}
        onClose={() => setCodes([])}
        title="Your recovery codes"
        showsSecret={codes.length > 0}
      >
        <Stack>
          <Text size="sm">
            Each code signs you in once in place of the second factor. Keep the codes apart from your password. They are
            shown only now.
          </Text>
          <ul className="numeric" aria-label="Recovery codes">
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <Button onClick={() => setCodes([])}>I have kept them</Button>
        </Stack>
      </SecretModal>
    </section>
  );
}

function TaskForm({ task, onDone }: { task: Task; onDone: (codes: string[]) => void }) {
  const [password, setPassword] = useState('');
  const [name, setName] = useState('');
  const [newApp, setNewApp] = useState<NewApp>();
  // The result is the new recovery codes; undefined if the new app must be confirmed first.
  const runTask = useChange<void, string[] | undefined>(async () => {
    switch (task) {
      case 'add app':
        setNewApp(await callApi<NewApp>('POST', `${factorsPath}/app`, { password }));
        return undefined;
      case 'remove app':
        await callApi('DELETE', `${factorsPath}/app`, { password });
        return [];
      case 'renew codes':
        return (await callApi<RecoveryCodes>('POST', `${factorsPath}/recovery-codes`, { password })).codes;
      case 'add passkey': {
        const optionsJSON = await callApi<NewPasskeyOptions>('POST', `${factorsPath}/passkeys/options`, { password });
        const newPasskey = { name, response: await startRegistration({ optionsJSON }) } satisfies NewPasskey;
        return (await callApi<RecoveryCodes>('POST', `${factorsPath}/passkeys`, newPasskey)).codes;
      }
      default:
        await callApi('DELETE', `${factorsPath}/passkeys/${encodeURIComponent(task.passkeyToRemove)}`, { password });
        return [];
    }
  }, []);
  if (newApp) return <ConfirmApp app={newApp} onDone={onDone} />;
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    runTask.mutate(undefined, { onSuccess: (codes) => codes && onDone(codes) });
  };
  const { error } = runTask;
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        {task === 'add passkey' ? (
          <TextInput
            label="Name of the passkey"
            placeholder="My laptop"
            required
            withAsterisk={false}
            maxLength={100}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        ) : null}
        <PasswordField value={password} error={error?.findProblem('password')} onChange={setPassword} />
        <FormFailure title="That did not work" error={error} inputs={['password']} />
        <Button type="submit" loading={runTask.isPending}>
          Continue
        </Button>
      </Stack>
    </form>
  );
}

function ConfirmApp({ app, onDone }: { app: NewApp; onDone: (codes: string[]) => void }) {
  const [code, setCode] = useState('');
  const confirm = useChange(
    (input: { code: string }) => callApi<RecoveryCodes>('POST', `${factorsPath}/app/confirm`, input),
    [],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    confirm.mutate({ code }, { onSuccess: ({ codes }) => onDone(codes) });
  };
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <Text size="sm">Scan this with your authenticator app, then enter the code that the app shows.</Text>
        <img
          src={`data:image/svg+xml,${encodeURIComponent(app.svg)}`}
          alt="QR code with the secret below"
          width={200}
          height={200}
          style={{ background: 'white', alignSelf: 'center' }}
        />
        <Text size="sm" className="break">
          Or type the secret: <code>{app.secret}</code>
        </Text>
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          withAsterisk={false}
          maxLength={10}
          value={code}
          error={confirm.error?.findProblem('code')}
          onChange={({ currentTarget }) => setCode(currentTarget.value)}
        />
        <FormFailure title="That did not work" error={confirm.error} inputs={['code']} />
        <Button type="submit" loading={confirm.isPending}>
          Confirm
        </Button>
      </Stack>
    </form>
  );
}
