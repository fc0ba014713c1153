import type { Limits } from '#shared/accounts/limits/limits.ts';
import { Button, Group, Modal, Stack } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../../../contract/people.ts';
import type { ApiFailure } from '../../api/call-api.ts';
import { FormFailure } from '../../parts/failure.tsx';
import { CeilingFields } from '../../parts/ceiling-fields.tsx';
import { LimitsFields } from '../../parts/limits-fields.tsx';
import { WeightField } from '../../parts/number-field.tsx';

/** The new limits, weight and ceiling of a person or a team. */
export interface PartyChange {
  id: string;
  limits: Limits;
  weight: number;
  ceiling: User['ceiling'];
}

export interface LimitsModalProps {
  /** The person or team whose limits are changed; undefined while the dialog is closed. */
  party: (PartyChange & { name: string }) | undefined;
  change: UseMutationResult<unknown, ApiFailure, PartyChange>;
  onClose: () => void;
}

/** Changes the limits, the weight and the ceiling of a person or a team, which apply to all their keys together. */
export function LimitsModal({ party, change, onClose }: LimitsModalProps) {
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Modal opened={party !== undefined} onClose={close} title={`Limits of ${party?.name ?? ''}`} size="lg">
      {party ? <LimitsForm key={party.id} party={party} change={change} onClose={close} /> : null}
    </Modal>
  );
}

function LimitsForm({
  party: { id, limits, weight, ceiling },
  change,
  onClose,
}: LimitsModalProps & { party: NonNullable<LimitsModalProps['party']> }) {
  const [newLimits, setNewLimits] = useState(limits);
  const [newWeight, setNewWeight] = useState(weight);
  const [newCeiling, setNewCeiling] = useState(ceiling);
  return (
    <Stack gap="sm">
      <LimitsFields value={newLimits} onChange={setNewLimits} />
      <WeightField othersName="people and teams" value={newWeight} onChange={setNewWeight} />
      <CeilingFields
        value={newCeiling}
        modelsProblem={change.error?.findProblem('ceiling.models')}
        onChange={setNewCeiling}
      />
      <FormFailure title="The limits were not changed" error={change.error} inputs={['ceiling.models']} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={change.isPending}
          onClick={() =>
            change.mutate({ id, limits: newLimits, weight: newWeight, ceiling: newCeiling }, { onSuccess: onClose })
          }
        >
          Save
        </Button>
      </Group>
    </Stack>
  );
}
