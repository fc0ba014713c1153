import { Button, Modal, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { callApi } from '../../api/call-api.ts';
import { setSession, useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { deleteConversations } from '../../parts/conversation-database.ts';
import { Failure } from '../../parts/failure.tsx';

export function DeleteAccount() {
  const { user } = useSession();
  const [isAsked, ask] = useState(false);
  const [password, setPassword] = useState('');
  const remove = useChange((input: { password?: string }) => callApi('DELETE', '/account', input), []);
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const onSuccess = (): void => {
      deleteConversations(user.id);
      setSession(null);
    };
    remove.mutate(user.hasPassword ? { password } : {}, { onSuccess });
  };
  return (
    <section className="panel">
      <Title order={2} mb="xs">
        Delete the account
      </Title>
      <Text size="sm" mb="sm">
        Your keys are revoked, your batches cancelled, and your files, stored responses, recordings, webhooks and
        connections removed. What you have used stays in the usage of the router, without your name.
      </Text>
      <Button variant="default" onClick={() => ask(true)}>
        Delete my account
      </Button>
      <Modal opened={isAsked} onClose={() => ask(false)} title="Delete your account?">
        <form onSubmit={onSubmit}>
          <Stack>
            <Text size="sm">This cannot be undone.</Text>
            {user.hasPassword ? (
              <PasswordInput
                label="Your password"
                autoComplete="current-password"
                required
                withAsterisk={false}
                value={password}
                error={remove.error?.field === 'password' ? remove.error.message : undefined}
                onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              />
            ) : null}
            {remove.error && remove.error.field !== 'password' ? (
              <Failure title="The account was not deleted" error={remove.error} />
            ) : null}
            <Button type="submit" color="red.8" loading={remove.isPending}>
              Delete my account
            </Button>
          </Stack>
        </form>
      </Modal>
    </section>
  );
}
