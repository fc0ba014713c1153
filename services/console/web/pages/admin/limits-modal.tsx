import type { Limits } from '#shared/accounts/limits/limits.ts';
import { Modal } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { User } from '../../../contract/people.ts';
import type { ApiFailure } from '../../api/call-api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
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
    <DialogForm
      change={change}
      failure="The limits were not changed"
      inputs={['ceiling.models']}
      action="Save"
      onSubmit={() =>
        change.mutate({ id, limits: newLimits, weight: newWeight, ceiling: newCeiling }, { onSuccess: onClose })
      }
      onCancel={onClose}
    >
      <LimitsFields value={newLimits} onChange={setNewLimits} />
      <WeightField othersName="people and teams" value={newWeight} onChange={setNewWeight} />
      <CeilingFields
        value={newCeiling}
        modelsProblem={change.error?.findProblem('ceiling.models')}
        onChange={setNewCeiling}
      />
    </DialogForm>
  );
}
