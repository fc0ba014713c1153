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
import { outcomeLabels } from './request-columns.tsx';
import { logSpans, requestFilters, type RequestFilter, type RequestQuery } from './request-query.ts';

const dayMs = 86_400_000;

export interface RequestFiltersProps {
  query: RequestQuery;
  onFilter: (change: Record<string, string | undefined>) => void;
}

export function RequestFilters({ query: { filters, span, spanStart, exactSpan }, onFilter }: RequestFiltersProps) {
  const isAdmin = useIsAdmin();
  const renderChoice = (name: RequestFilter, data: { value: string; label: string }[]) => (
    <Choice name={name} value={filters[name]} data={data} onChange={(value) => onFilter({ [name]: value })} />
  );
  const renderUsedChoice = (name: 'model' | 'key' | 'user' | 'team') => (
    <UsedChoice name={name} value={filters[name]} onChange={(value) => onFilter({ [name]: value })} />
  );
  return (
    <Group gap="xs" role="group" aria-label="Filters">
      {exactSpan ? (
        <Button variant="default" onClick={() => onFilter({ from: undefined, to: undefined })}>
          {formatDateTime(exactSpan.from)} to {formatDateTime(exactSpan.to)} ×
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
          onChange={(value) => onFilter({ span: value ?? undefined })}
        />
      )}
      {spanStart === undefined ? null : (
        <Text size="sm" c="dimmed">
          since {formatDateTime(spanStart)}
        </Text>
      )}
      {renderUsedChoice('model')}
      {renderUsedChoice('key')}
      {isAdmin ? renderUsedChoice('user') : null}
      {renderUsedChoice('team')}
      {renderChoice(
        'tier',
        tiers.map((tier) => ({ value: tier, label: tierNames[tier] })),
      )}
      {renderChoice(
        'outcome',
        Object.entries(outcomeLabels).map(([value, label]) => ({ value, label })),
      )}
      {renderChoice(
        'purpose',
        purposes.map((purpose) => ({ value: purpose, label: purpose })),
      )}
      {renderChoice(
        'code',
        Object.keys(errorTable).map((code) => ({ value: code, label: code })),
      )}
      {renderChoice('recorded', [
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
  const isKnown = value === undefined || data.some((choice) => choice.value === value);
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

/**
 * A choice among the models, keys, people or teams that have sent requests in the last 30 days. The choices are loaded when somebody opens
 * the list.
 */
function UsedChoice({
  name,
  ...choice
}: Pick<ChoiceProps, 'value' | 'onChange'> & { name: 'model' | 'key' | 'user' | 'team' }) {
  const [isOpened, setOpened] = useState(false);
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const time = { from: String(today - 29 * dayMs), to: String(today + dayMs - 1), step: 'month', by: name };
  const report = useApi<UsageReport>(`/usage?${new URLSearchParams(time)}`, {
    // The name of the chosen value is shown even before somebody opens the list.
    enabled: isOpened || (choice.value !== undefined && name !== 'model'),
  });
  const usedGroups = (report.data?.groups ?? []).filter(({ id }) => id !== '');
  const isNamedOnce = (label: string): boolean => usedGroups.filter((group) => group.name === label).length === 1;
  const data = usedGroups.map(({ id, name: label }) => ({
    value: id,
    label: isNamedOnce(label) ? label : `${label} (${id})`,
  }));
  return <Choice name={name} data={data} onOpen={() => setOpened(true)} {...choice} />;
}
