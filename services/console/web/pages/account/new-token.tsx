import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { AdminToken, NewAdminToken } from '../../../contract/tokens.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

const scopeLabels = {
  read: 'Read everything that you may see',
  keys: 'Make and change keys',
  admin: 'Everything that you may do',
} as const;

const emptyToken = { name: '', scopes: ['read'], expiresInDays: 90 } satisfies NewAdminToken;

export function NewToken({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [newToken, setNewToken] = useState<NewAdminToken>(emptyToken);
  const create = useChange(
    (input: NewAdminToken) => callApi<{ token: AdminToken; raw: string }>('POST', '/tokens', input),
    ['/tokens'],
  );
  const close = (): void => {
    create.reset();
    setNewToken(emptyToken);
    onClose();
  };
  return (
    <SecretModal
      opened={opened}
      onClose={close}
      title={create.data ? 'Your new token' : 'New admin token'}
      showsSecret={create.data !== undefined}
    >
      {create.data ? (
        <Stack gap="sm">
          <Text size="sm">Copy the token now: it is shown only once.</Text>
          <CodeBlock code={create.data.raw} label="token" wrap />
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <DialogForm
          change={create}
          failure="The token was not created"
          inputs={['name']}
          action="Create"
          onSubmit={() => create.mutate(newToken)}
        >
          <TextInput
            label="Name"
            required
            maxLength={100}
            value={newToken.name}
            error={create.error?.findProblem('name')}
            onChange={({ currentTarget: { value } }) => setNewToken((before) => ({ ...before, name: value }))}
          />
          <Select
            label="Scope"
            data={Object.entries(scopeLabels).map(([value, label]) => ({ value, label }))}
            value={newToken.scopes[0] ?? null}
            allowDeselect={false}
            onChange={(value) =>
              value && setNewToken((before) => ({ ...before, scopes: [value as keyof typeof scopeLabels] }))
            }
          />
          <NumberInput
            label="Days until it expires"
            min={1}
            max={366}
            allowDecimal={false}
            value={newToken.expiresInDays ?? 90}
            onChange={(value) =>
              typeof value === 'number' && setNewToken((before) => ({ ...before, expiresInDays: value }))
            }
          />
        </DialogForm>
      )}
    </SecretModal>
  );
}
