import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { Team } from '../../contract/account.ts';
import { callApi } from '../api/call-api.ts';
import { useChange } from '../api/use-api.ts';
import { FormFailure } from './form-failure.tsx';

export function TeamNameForm({ team, onDone }: { team?: Team; onDone: () => void }) {
  const [name, setName] = useState(team?.name ?? '');
  const save = useChange(
    (input: string) =>
      team
        ? callApi<Team>('PATCH', `/teams/${encodeURIComponent(team.id)}`, { name: input })
        : callApi<Team>('POST', '/teams', { name: input }),
    ['/teams', '/keys', '/session'],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    save.mutate(name, { onSuccess: onDone });
  };
  const { error } = save;
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          maxLength={100}
          data-autofocus
          value={name}
          error={error?.findProblem('name')}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <FormFailure
          title={team ? 'The team was not renamed' : 'The team was not created'}
          error={error}
          inputs={['name']}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            {team ? 'Save' : 'Create team'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
