import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { tiers } from '#shared/core/tier.ts';
import type { CreatedWorkerCredential, NewWorkerCredential } from '../../../contract/credentials.ts';
import { callApi } from '../../api/call-api.ts';
import { useChange } from '../../api/use-api.ts';
import { SecretModal } from '../../parts/secret-modal.tsx';
import { tierNames } from '../../parts/tier-mark.tsx';
import { WorkerSetupFields } from './worker-setup-fields.tsx';
import { emptyWorkerSetup, type WorkerSetup } from './join-command.ts';
import { NewCredential } from './new-credential.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';

/**
 * Labels of the periods for which a credential can be valid, by number of days. An empty string means that the credential does not expire.
 */
const spanLabels = { '30': '30 days', '90': '90 days', '365': 'a year', '': 'until it is revoked' };

interface NewWorker extends WorkerSetup {
  name: string;
  span: string;
}

const emptyWorker: NewWorker = { ...emptyWorkerSetup, name: '', span: '90' };

/**
 * Creates a credential for a worker, shows it once with the command that starts the worker, and waits until the worker has joined.
 */
export function AddWorker({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [newWorker, setNewWorker] = useState(emptyWorker);
  const changeWorker = (change: Partial<NewWorker>): void => setNewWorker((before) => ({ ...before, ...change }));
  const create = useChange(
    ({ name, tier, span }: NewWorker) => {
      const input: NewWorkerCredential = { name, tier, ...(span !== '' && { expiresInDays: Number(span) }) };
      return callApi<CreatedWorkerCredential>('POST', '/worker-credentials', input);
    },
    ['/worker-credentials'],
  );
  const close = (): void => {
    create.reset();
    setNewWorker(emptyWorker);
    onClose();
  };
  return (
    <SecretModal
      opened={opened}
      onClose={close}
      title={create.data ? `The credential of ${create.data.credential.name}` : 'Add a worker'}
      showsSecret={create.data !== undefined}
      size="lg"
    >
      {create.data ? (
        <NewCredential created={create.data} setup={newWorker} onClose={close} />
      ) : (
        <DialogForm
          change={create}
          failure="No credential was made"
          inputs={['name']}
          action="Create"
          onSubmit={() => create.mutate(newWorker)}
        >
          <TextInput
            label="Name"
            description="The first part of the ids of its workers: letters, digits, _ and -"
            placeholder="joes-box"
            required
            maxLength={64}
            value={newWorker.name}
            error={create.error?.findProblem('name')}
            onChange={({ currentTarget }) => changeWorker({ name: currentTarget.value })}
          />
          <Select
            label="Tier"
            data={tiers.map((tier) => ({ value: tier, label: tierNames[tier] }))}
            value={newWorker.tier}
            allowDeselect={false}
            onChange={(value) => value && changeWorker({ tier: value })}
          />
          <WorkerSetupFields setup={newWorker} onChange={changeWorker} />
          <Select
            label="Valid"
            data={Object.entries(spanLabels).map(([value, label]) => ({ value, label }))}
            value={newWorker.span}
            allowDeselect={false}
            onChange={(value) => value !== null && changeWorker({ span: value })}
          />
        </DialogForm>
      )}
    </SecretModal>
  );
}
