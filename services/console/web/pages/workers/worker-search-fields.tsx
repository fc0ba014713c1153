import { Group, Select, TextInput } from '@mantine/core';
import { memo } from 'react';
import { tiers } from '#shared/core/tier.ts';
import { tierNames } from '../../parts/tier-mark.tsx';
import type { ShownState, WorkerSearch } from './find-workers.ts';
import { stateLabels } from './worker-state.tsx';

export interface WorkerSearchFieldsProps {
  search: WorkerSearch;
  onChange: (search: WorkerSearch) => void;
}

export const WorkerSearchFields = memo(function WorkerSearchFields({ search, onChange }: WorkerSearchFieldsProps) {
  return (
    <Group gap="xs" role="group" aria-label="Filters" align="flex-end">
      <TextInput
        label="Search"
        placeholder="Name, model, tool, pool or host"
        w="20rem"
        value={search.text}
        onChange={({ currentTarget }) => onChange({ ...search, text: currentTarget.value })}
      />
      <Select
        label="State"
        placeholder="Any state"
        clearable
        clearButtonProps={{ 'aria-label': 'Show any state' }}
        w="11rem"
        data={Object.entries(stateLabels).map(([value, { word }]) => ({ value, label: word }))}
        value={search.state ?? null}
        onChange={(value) => onChange({ ...search, state: (value as ShownState | null) ?? undefined })}
      />
      <Select
        label="Tier"
        placeholder="Any tier"
        clearable
        clearButtonProps={{ 'aria-label': 'Show any tier' }}
        w="9rem"
        data={tiers.map((tier) => ({ value: tier, label: tierNames[tier] }))}
        value={search.tier ?? null}
        onChange={(value) => onChange({ ...search, tier: tiers.find((tier) => tier === value) })}
      />
    </Group>
  );
});
