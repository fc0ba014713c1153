import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Key, KeySettings, NewKey } from '../../../contract/keys.ts';
import type { Team, User } from '../../../contract/people.ts';
import { callApi } from '../../api/call-api.ts';
import { useIsAdmin, useSession } from '../../api/session.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { KeyFields, keyInputs } from './key-fields.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

export interface NewKeyProps {
  opened: boolean;
  kinds: readonly [Key['kind'], ...Key['kind'][]];
  onClose: () => void;
}

const kindNames: Record<Key['kind'], string> = {
  user: 'A person',
  team: 'A team',
  router: 'The router: no owner',
};

const emptySettings: KeySettings = { name: '', class: 'normal', limits: {} };

export function NewKey({ opened, kinds, onClose }: NewKeyProps) {
  const { user } = useSession();
  const isAdmin = useIsAdmin();
  const [settings, setSettings] = useState(emptySettings);
  const [chosenKind, setChosenKind] = useState(kinds[0]);
  const [userId, setUserId] = useState<string | null>(user.id);
  const [teamId, setTeamId] = useState<string | null>(null);
  const create = useChange((input: NewKey) => callApi<{ key: Key; raw: string }>('POST', '/keys', input), ['/keys']);
  // Administrators may create keys for every team, other people only for teams that they own.
  const allTeams = useApi<Team[]>('/teams', { enabled: isAdmin && opened && kinds.includes('team') });
  const people = useApi<User[]>('/users', { enabled: isAdmin && opened && kinds.includes('user') });
  const teams = isAdmin ? (allTeams.data ?? []) : user.teams.filter(({ role }) => role === 'owner');
  const availableKinds = kinds.filter((each) =>
    each === 'team' ? teams.length > 0 : each !== 'user' || user.makesPersonalKeys,
  );
  const kind = availableKinds.includes(chosenKind) ? chosenKind : (availableKinds[0] ?? chosenKind);
  const close = (): void => {
    create.reset();
    setSettings(emptySettings);
    onClose();
  };
  const onSubmit = (): void => {
    const { class: priority, ...others } = settings;
    create.mutate({
      ...others,
      // Sends only chosen settings, because settings that an administrator sends are locked for the owner.
      ...(priority === emptySettings.class ? {} : { class: priority }),
      kind,
      ...(kind === 'team' && teamId !== null ? { teamId } : {}),
      ...(kind === 'user' && userId !== null && userId !== user.id ? { userId } : {}),
    });
  };
  return (
    <SecretModal
      opened={opened}
      onClose={close}
      title={create.data ? 'Your new key' : 'New key'}
      size="lg"
      showsSecret={create.data !== undefined}
    >
      {create.data ? (
        <KeyShownOnce raw={create.data.raw} onDone={close} />
      ) : (
        <DialogForm
          change={create}
          failure="The key was not created"
          inputs={keyInputs}
          action="Create key"
          isReady={kind !== 'team' || teamId !== null}
          onSubmit={onSubmit}
          onCancel={close}
        >
          {availableKinds.length > 1 ? (
            <Select
              label="Owner"
              data={availableKinds.map((each) => ({
                value: each,
                label: each === 'user' && !isAdmin ? 'Yourself' : kindNames[each],
              }))}
              value={kind}
              allowDeselect={false}
              onChange={(chosen) => setChosenKind(availableKinds.find((each) => each === chosen) ?? kinds[0])}
            />
          ) : null}
          {kind === 'user' && isAdmin ? (
            <Select
              label="Person"
              required
              searchable
              allowDeselect={false}
              data={(people.data ?? [user]).map(({ id, name, email }) => ({
                value: id,
                label: id === user.id ? `${name} (yourself)` : `${name} (${email})`,
              }))}
              value={userId}
              onChange={setUserId}
            />
          ) : null}
          {kind === 'team' ? (
            <Select
              label="Team"
              required
              data={teams.map(({ id, name }) => ({ value: id, label: name }))}
              value={teamId}
              onChange={setTeamId}
            />
          ) : null}
          <KeyFields value={settings} error={create.error} onChange={setSettings} />
        </DialogForm>
      )}
    </SecretModal>
  );
}

/** Shows a new key, which cannot be shown again later. */
export function KeyShownOnce({ raw, onDone }: { raw: string; onDone: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Copy the key now and keep it in a safe place. It is shown only once; only a hash of it is stored.
      </Text>
      <CodeBlock wrap code={raw} label="the key" />
      <Text size="sm">For a shell:</Text>
      <CodeBlock wrap code={`export RTR_KEY=${raw}`} label="the shell command" />
      <Group justify="flex-end">
        <Button onClick={onDone}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
