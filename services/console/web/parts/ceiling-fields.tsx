import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { Fieldset, MultiSelect, Select, Stack, TagsInput } from '@mantine/core';
import type { User } from '../../contract/people.ts';
import type { ServedModel } from '../../contract/live.ts';
import { useApi } from '../api/use-api.ts';
import { tierNames } from './tier-mark.tsx';

type Ceiling = User['ceiling'];

export interface CeilingFieldsProps {
  value: Ceiling;
  /** The API's reason for refusing the models; absent if it has not refused them. */
  modelsProblem?: string | undefined;
  onChange: (ceiling: Ceiling) => void;
}

/** Inputs for the ceiling of a person or a team. An empty input restricts nothing. */
export function CeilingFields({ value, modelsProblem, onChange }: CeilingFieldsProps) {
  const models = useApi<ServedModel[]>('/models');
  const { models: chosenModels, tiers: chosenTiers, maxClass } = value;
  return (
    <Fieldset legend="Whatever their keys say">
      <Stack gap="sm">
        <TagsInput
          label="Models"
          description="Empty: all"
          data={models.data?.map(({ id }) => id) ?? []}
          value={chosenModels ?? []}
          error={modelsProblem}
          onChange={(chosen) => onChange(replaceField(value, 'models', chosen.length > 0 && { models: chosen }))}
        />
        <MultiSelect
          label="Tiers"
          description="Empty: all"
          data={tiers.map((tier) => ({ value: tier, label: tierNames[tier] }))}
          value={chosenTiers ?? []}
          onChange={(chosen) => {
            const newTiers = tiers.filter((tier) => chosen.includes(tier));
            onChange(replaceField(value, 'tiers', newTiers.length > 0 && { tiers: newTiers }));
          }}
        />
        <Select
          label="Highest class"
          description="Empty: the class of the key; only administrators give a key the class high"
          data={priorityClasses.map((name) => ({ value: name, label: name }))}
          value={maxClass ?? null}
          clearable
          onChange={(chosen) => {
            const newMaxClass = priorityClasses.find((name) => name === chosen);
            onChange(replaceField(value, 'maxClass', newMaxClass !== undefined && { maxClass: newMaxClass }));
          }}
        />
      </Stack>
    </Fieldset>
  );
}

export function describeCeiling({ models, tiers: allowedTiers, maxClass }: Ceiling): string {
  const parts = [
    ...(models === undefined ? [] : [models.join(', ')]),
    ...(allowedTiers === undefined ? [] : [`only ${allowedTiers.join(', ')}`]),
    ...(maxClass === undefined ? [] : [`class ${maxClass} at most`]),
  ];
  return parts.length === 0 ? 'all models and tiers' : parts.join('; ');
}

function replaceField(ceiling: Ceiling, field: keyof Ceiling, replacement: Ceiling | false): Ceiling {
  const { [field]: _, ...others } = ceiling;
  return { ...others, ...replacement };
}
