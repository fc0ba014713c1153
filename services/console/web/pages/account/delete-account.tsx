import { Button, Modal, Stack, Text, Title } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import { callApi } from '../../api/call-api.ts';
import { setSession, useSession } from '../../api/session.ts';
import { useChange } from '../../api/use-api.ts';
import { deleteConversations } from '../playground/saved/open-store.ts';
import { FormFailure } from '../../parts/failure.tsx';
import { PasswordField } from '../../parts/password-field.tsx';

export function DeleteAccount() {
  const { user } = useSession();
  const [isDialogOpen, setDialogOpen] = useState(false);
  const [password, setPassword] = useState('');
  const deleteAccount = useChange((input: { password?: string }) => callApi('DELETE', '/account', input), []);
  const close = (): void => {
    deleteAccount.reset();
    setPassword('');
    setDialogOpen(false);
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    const onSuccess = (): void => {
      deleteConversations(user.id);
      setSession(null);
    };
    deleteAccount.mutate(user.hasPassword ? { password } : {}, { onSuccess });
  };
  return (
    <section className="panel">
      <Title order={2} mb="xs">
        Delete the account
      </Title>
      <Text size="sm" mb="sm">
        Your keys are revoked, your batches cancelled, and your files, stored responses, recordings, webhooks and
        connections removed. Your past usage stays in the figures of the router, without your name.
      </Text>
      <Button variant="default" onClick={() => setDialogOpen(true)}>
        Delete my account
      </Button>
      <Modal opened={isDialogOpen} onClose={close} title="Delete your account?">
        <form onSubmit={onSubmit}>
          <Stack>
            <Text size="sm">This cannot be undone.</Text>
            {user.hasPassword ? (
              <PasswordField
                value={password}
                error={deleteAccount.error?.findProblem('password')}
                onChange={setPassword}
              />
            ) : null}
            <FormFailure title="The account was not deleted" error={deleteAccount.error} inputs={['password']} />
            <Button type="submit" color="red.8" loading={deleteAccount.isPending}>
              Delete my account
            </Button>
          </Stack>
        </form>
      </Modal>
    </section>
  );
}
