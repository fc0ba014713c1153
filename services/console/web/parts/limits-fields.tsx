import type { Limits } from '#shared/accounts/limits/limits.ts';
import { SimpleGrid } from '@mantine/core';
import { NumberField } from './number-field.tsx';

const limitFields: readonly { field: keyof Limits; label: string; isMoney?: boolean }[] = [
  { field: 'requestsPerMinute', label: 'Requests a minute' },
  { field: 'tokensPerMinute', label: 'Tokens a minute' },
  { field: 'concurrentRequests', label: 'Requests at once' },
  { field: 'tokensPerDay', label: 'Tokens a day' },
  { field: 'tokensPerMonth', label: 'Tokens a month' },
  { field: 'costPerDay', label: 'Dollars a day', isMoney: true },
  { field: 'costPerMonth', label: 'Dollars a month', isMoney: true },
];

/** Inputs for limits. An empty input means no limit. */
export function LimitsFields({
  value,
  isSetByAdmin = () => false,
  onChange,
}: {
  value: Limits;
  /** Returns whether an administrator has set the limit, so that the person may not change it. */
  isSetByAdmin?: (name: keyof Limits) => boolean;
  onChange: (limits: Limits) => void;
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
      {limitFields.map(({ field, label, isMoney = false }) => (
        <NumberField
          key={field}
          label={label}
          disabled={isSetByAdmin(field)}
          description={isSetByAdmin(field) ? 'Set by an administrator' : undefined}
          placeholder="no limit"
          min={isMoney ? 0.01 : 1}
          allowDecimal={isMoney}
          allowNegative={false}
          decimalScale={isMoney ? 2 : 0}
          thousandSeparator=","
          number={value[field]}
          onNumber={(limit) => {
            const { [field]: _, ...others } = value;
            // Zero is kept, and the field raises it to its minimum. Dropping zero would silently remove the limit.
            onChange(limit === undefined ? others : { ...others, [field]: limit });
          }}
        />
      ))}
    </SimpleGrid>
  );
}

export function describeLimits(limits: Limits): string {
  const parts = limitFields.flatMap(({ field, label, isMoney }) => {
    const limit = limits[field];
    if (limit === undefined) return [];
    const [unit = '', ...periodWords] = label.split(' ');
    const amount = limit.toLocaleString('en', isMoney ? { minimumFractionDigits: 2 } : {});
    return [
      isMoney ? `$${amount} ${periodWords.join(' ')}` : `${amount} ${unit.toLowerCase()} ${periodWords.join(' ')}`,
    ];
  });
  return parts.length === 0 ? 'none' : parts.join(', ');
}
