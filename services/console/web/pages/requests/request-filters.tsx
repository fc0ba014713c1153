import { Button, Group, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { errorTable } from '#shared/core/errors.ts';
import { purposes } from '#shared/core/purpose.ts';
import { tiers } from '#shared/core/tier.ts';
import type { UsageReport } from '../../../contract/usage.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { formatDateTime } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';
import { outcomes } from './request-columns.tsx';
import { logSpans, requestFilters, type RequestFilter, type RequestQuery } from './request-query.ts';

const dayMs = 86_400_000;

export interface RequestFiltersProps {
  query: RequestQuery;
  set: (change: Record<string, string | undefined>) => void;
}

export function RequestFilters({ query: { filters, span, since, between }, set }: RequestFiltersProps) {
  const isAdmin = useIsAdmin();
  const fixed = (name: RequestFilter, data: { value: string; label: string }[]) => (
    <Choice name={name} value={filters[name]} data={data} onChange={(value) => set({ [name]: value })} />
  );
  const used = (name: 'model' | 'key' | 'user' | 'team') => (
    <Used name={name} value={filters[name]} onChange={(value) => set({ [name]: value })} />
  );
  return (
    <Group gap="xs" role="group" aria-label="Filters">
      {between ? (
        <Button variant="default" onClick={() => set({ from: undefined, to: undefined })}>
          {formatDateTime(between.from)} to {formatDateTime(between.to)} ×
        </Button>
      ) : (
        <Select
          aria-label="Time"
          placeholder="All times"
          clearable
          clearButtonProps={{ 'aria-label': 'Show all times' }}
          w="10rem"
          data={Object.entries(logSpans).map(([value, { label }]) => ({ value, label }))}
          value={span ?? null}
          onChange={(value) => set({ span: value ?? undefined })}
        />
      )}
      {since === undefined ? null : (
        <Text size="sm" c="dimmed">
          since {formatDateTime(since)}
        </Text>
      )}
      {used('model')}
      {used('key')}
      {isAdmin ? used('user') : null}
      {used('team')}
      {fixed(
        'tier',
        tiers.map((tier) => ({ value: tier, label: tierNames[tier] })),
      )}
      {fixed(
        'outcome',
        Object.entries(outcomes).map(([value, label]) => ({ value, label })),
      )}
      {fixed(
        'purpose',
        purposes.map((purpose) => ({ value: purpose, label: purpose })),
      )}
      {fixed(
        'code',
        Object.keys(errorTable).map((code) => ({ value: code, label: code })),
      )}
      {fixed('recorded', [
        { value: 'true', label: 'Recorded' },
        { value: 'false', label: 'Not recorded' },
      ])}
    </Group>
  );
}

interface ChoiceProps {
  name: RequestFilter;
  value: string | undefined;
  data: { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
  onOpen?: () => void;
}

function Choice({ name, value, data, onChange, onOpen }: ChoiceProps) {
  const label = requestFilters[name];
  const isKnown = value === undefined || data.some((each) => each.value === value);
  return (
    <Select
      aria-label={label}
      placeholder={label}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': `Remove the filter ${label}` }}
      limit={100}
      w="10rem"
      data={isKnown ? data : [...data, { value, label: value }]}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      {...(onOpen && { onDropdownOpen: onOpen })}
    />
  );
}

/** A choice among the models, keys, people or teams that have sent requests in the last 30 days. They are loaded when somebody opens it. */
function Used({
  name,
  ...choice
}: Pick<ChoiceProps, 'value' | 'onChange'> & { name: 'model' | 'key' | 'user' | 'team' }) {
  const [isOpened, setOpened] = useState(false);
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const time = { from: String(today - 29 * dayMs), to: String(today + dayMs - 1), step: 'month', by: name };
  const report = useApi<UsageReport>(`/usage?${new URLSearchParams(time)}`, {
    // The name of an earlier choice is shown before somebody opens the list.
    enabled: isOpened || (choice.value !== undefined && name !== 'model'),
  });
  const found = (report.data?.groups ?? []).filter(({ id }) => id !== '');
  const isNamedOnce = (label: string): boolean => found.filter((each) => each.name === label).length === 1;
  const data = found.map(({ id, name: label }) => ({
    value: id,
    label: isNamedOnce(label) ? label : `${label} (${id})`,
  }));
  return <Choice name={name} data={data} onOpen={() => setOpened(true)} {...choice} />;
}
