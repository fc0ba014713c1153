import { NumberInput, Select, Switch, Textarea, TextInput } from '@mantine/core';
import type { FormField } from './form-fields.ts';

export interface FieldInputProps {
  field: FormField;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}

export function FieldInput({ field, value, problem, onChange }: FieldInputProps) {
  const { title, description, isRequired, kind, choices, minimum, maximum } = field;
  const commonProps = { label: title, description, withAsterisk: isRequired, error: problem };
  switch (kind) {
    case 'boolean':
      return (
        <Switch
          label={title}
          description={description}
          error={problem}
          checked={value === 'true'}
          onChange={({ currentTarget }) => onChange(String(currentTarget.checked))}
        />
      );
    case 'choice':
      return (
        <Select
          {...commonProps}
          data={choices}
          value={value === '' ? null : value}
          clearable={!isRequired}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      );
    case 'number':
    case 'integer':
      return (
        <NumberInput
          {...commonProps}
          value={value}
          allowDecimal={kind === 'number'}
          {...(minimum === undefined ? {} : { min: minimum })}
          {...(maximum === undefined ? {} : { max: maximum })}
          onChange={(typed) => onChange(String(typed))}
        />
      );
    case 'long-text':
    case 'texts':
    case 'json':
      return (
        <Textarea
          {...commonProps}
          description={[description, hints[kind]].filter((part) => part !== '').join(' · ')}
          autosize
          minRows={2}
          maxRows={14}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'text':
      return (
        <TextInput {...commonProps} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)} />
      );
  }
}

const hints = { 'long-text': '', texts: 'one on each line', json: 'as JSON' };
