import { MultiSelect, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Tier } from '#shared/core/tier.ts';
import type { CreatedBoxInvitation, NewBoxInvitation } from '../../../contract/box-invitations.ts';
import { callApi } from '../../api/call-api.ts';
import { refreshAnswers, useChange } from '../../api/use-api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { tierNames } from '../../parts/tier-mark.tsx';
import { NewInvitation } from './new-invitation.tsx';

/** The tiers that the command on the machine can serve. */
const offeredTiers = ['gpu', 'cli', 'cloud'] as const satisfies readonly Tier[];

/** Labels of the times for which an invitation can be valid, by number of minutes. */
const spanLabels = { '60': 'an hour', '1440': 'a day', '10080': 'a week' };

interface NewWorker {
  name: string;
  tiers: Tier[];
  minutes: string;
}

const emptyWorker: NewWorker = { name: '', tiers: ['gpu'], minutes: '60' };

/** Invites a machine: shows once the line to run there, and waits until its workers have joined. */
export function AddWorker({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [newWorker, setNewWorker] = useState(emptyWorker);
  const changeWorker = (change: Partial<NewWorker>): void => setNewWorker((before) => ({ ...before, ...change }));
  const create = useChange(
    ({ name, tiers, minutes }: NewWorker) => {
      const input: NewBoxInvitation = { tiers, expiresInMinutes: Number(minutes), ...(name !== '' && { name }) };
      return callApi<CreatedBoxInvitation>('POST', '/box-invitations', input);
    },
    ['/box-invitations'],
  );
  const close = (): void => {
    create.reset();
    setNewWorker(emptyWorker);
    // The machine may have joined meanwhile.
    void refreshAnswers(['/worker-credentials', '/box-invitations']);
    onClose();
  };
  return (
    <SecretModal opened={opened} onClose={close} title="Add a worker" showsSecret={create.data !== undefined} size="lg">
      {create.data ? (
        <NewInvitation created={create.data} onClose={close} />
      ) : (
        <DialogForm
          change={create}
          failure="No machine was invited"
          inputs={['name']}
          action="Create"
          isReady={newWorker.tiers.length > 0}
          onSubmit={() => create.mutate(newWorker)}
        >
          <MultiSelect
            label="What the machine may serve"
            description="GPU: engines such as vLLM, llama.cpp or Ollama. CLI: agents that are signed in there. Cloud: providers whose keys are set there"
            data={offeredTiers.map((tier) => ({ value: tier, label: tierNames[tier] }))}
            value={newWorker.tiers}
            onChange={(values) => changeWorker({ tiers: offeredTiers.filter((tier) => values.includes(tier)) })}
          />
          <TextInput
            label="Name"
            description="The first part of the ids of its workers: letters, digits, _ and -. The name of the machine if empty"
            placeholder="joes-box"
            maxLength={64}
            value={newWorker.name}
            error={create.error?.findProblem('name')}
            onChange={({ currentTarget }) => changeWorker({ name: currentTarget.value.trim() })}
          />
          <Select
            label="The line can be used for"
            data={Object.entries(spanLabels).map(([value, label]) => ({ value, label }))}
            value={newWorker.minutes}
            allowDeselect={false}
            onChange={(value) => value !== null && changeWorker({ minutes: value })}
          />
        </DialogForm>
      )}
    </SecretModal>
  );
}
