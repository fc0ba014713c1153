import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { SignInSession } from '../../../contract/sign-in.ts';
import { callApi } from '../../api/call-api.ts';
import { setSession, useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { FormFailure } from '../../parts/failure.tsx';
import { PasswordField } from '../../parts/password-field.tsx';

export function NameForm() {
  const { user } = useSession();
  const [name, setName] = useState(user.name);
  const changeName = useChange((input: { name: string }) => callApi<SignInSession>('PATCH', '/account', input), []);
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    changeName.mutate({ name }, { onSuccess: setSession });
  };
  return (
    <form className="panel" onSubmit={onSubmit}>
      <Stack gap="sm" maw="24rem">
        <Title order={2}>Name</Title>
        <TextInput
          label="Your name"
          autoComplete="name"
          required
          withAsterisk={false}
          maxLength={100}
          value={name}
          error={changeName.error?.findProblem('name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <FormFailure title="The name was not changed" error={changeName.error} inputs={['name']} />
        <Group>
          <Button type="submit" variant="default" loading={changeName.isPending} disabled={name === user.name}>
            Change name
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function EmailForm() {
  const { user } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const changeEmail = useChange(
    (input: { email: string; password: string }) => callApi<SignInSession>('POST', '/account/email', input),
    [],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const onSuccess = (session: SignInSession): void => {
      setEmail('');
      setPassword('');
      setSession(session);
    };
    changeEmail.mutate({ email, password }, { onSuccess });
  };
  return (
    <form className="panel" onSubmit={onSubmit}>
      <Stack gap="sm" maw="24rem">
        <Title order={2}>E-mail address</Title>
        <TextInput
          label="New e-mail address"
          type="email"
          autoComplete="email"
          required
          withAsterisk={false}
          placeholder={user.email}
          value={email}
          error={changeEmail.error?.findProblem('email')}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordField value={password} error={changeEmail.error?.findProblem('password')} onChange={setPassword} />
        <FormFailure title="The address was not changed" error={changeEmail.error} inputs={['email', 'password']} />
        {changeEmail.isSuccess ? (
          <Text size="sm" role="status">
            The address is changed. You are signed out everywhere else.
          </Text>
        ) : null}
        <Group>
          <Button type="submit" variant="default" loading={changeEmail.isPending}>
            Change address
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
