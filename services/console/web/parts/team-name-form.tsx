import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Team } from '../../contract/people.ts';
import { callApi } from '../api/call-api.ts';
import { useChange } from '../api/use-api.ts';
import { DialogForm } from './dialog-form.tsx';

export function TeamNameForm({ team, onDone }: { team?: Team; onDone: () => void }) {
  const [name, setName] = useState(team?.name ?? '');
  const save = useChange(
    (input: string) =>
      team
        ? callApi<Team>('PATCH', `/teams/${encodeURIComponent(team.id)}`, { name: input })
        : callApi<Team>('POST', '/teams', { name: input }),
    ['/teams', '/keys', '/session'],
  );
  const { error } = save;
  return (
    <DialogForm
      change={save}
      failure={team ? 'The team was not renamed' : 'The team was not created'}
      inputs={['name']}
      action={team ? 'Save' : 'Create team'}
      onSubmit={() => save.mutate(name, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        value={name}
        error={error?.findProblem('name')}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
    </DialogForm>
  );
}
