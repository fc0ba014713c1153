import { Select, Stack, TagsInput } from '@mantine/core';

type Recipients = boolean | string[];

const choices = [
  { value: 'administrators', label: 'Administrators' },
  { value: 'nobody', label: 'Nobody' },
  { value: 'addresses', label: 'These addresses' },
];

/** Input for the recipients of the router's alerts: true for administrators, false for nobody, or a list of e-mail addresses. */
export function AlertRecipients({
  value,
  problem,
  onChange,
}: {
  value: Recipients;
  problem: string | undefined;
  onChange: (value: Recipients) => void;
}) {
  const chosenOption = Array.isArray(value) ? 'addresses' : value ? 'administrators' : 'nobody';
  return (
    <Stack gap="xs">
      <Select
        label="Alerts of the router go by e-mail to"
        description="Workers, models, the error rate, and budgets and keys that belong to nobody"
        data={choices}
        allowDeselect={false}
        value={chosenOption}
        onChange={(choice) => onChange(choice === 'addresses' ? [] : choice === 'administrators')}
      />
      {Array.isArray(value) ? (
        <TagsInput
          label="Addresses"
          placeholder={value.length === 0 ? 'ops@example.com' : ''}
          splitChars={[',', ';', ' ']}
          maxTags={20}
          acceptValueOnBlur
          value={value}
          error={problem}
          onChange={onChange}
        />
      ) : null}
    </Stack>
  );
}
