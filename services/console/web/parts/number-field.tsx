import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

export interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'defaultValue' | 'onChange'> {
  /** Undefined while the field is empty. */
  number: number | undefined;
  onNumber: (number: number | undefined) => void;
}

/** A field for a number with decimals. It keeps unfinished input such as `12.` until the next digit is typed. */
export function NumberField({ number, onNumber, ...props }: NumberFieldProps) {
  const [typedValue, setTypedValue] = useState<number | string>(number ?? '');
  return (
    <NumberInput
      {...props}
      value={parseNumber(typedValue) === number ? typedValue : (number ?? '')}
      onChange={(next) => {
        setTypedValue(next);
        onNumber(parseNumber(next));
      }}
    />
  );
}

function parseNumber(typed: number | string): number | undefined {
  const number = Number.parseFloat(String(typed));
  return Number.isNaN(number) ? undefined : number;
}

export interface WeightFieldProps {
  /** The name of the others that share the queue by weight, for example `keys of the owner`. */
  othersName: string;
  value: number;
  onChange: (weight: number) => void;
}

/** An input for a weight. An empty input means 1. */
export function WeightField({ othersName, value, onChange }: WeightFieldProps) {
  return (
    <NumberField
      label="Weight"
      description={`Turns in the queue for each one of other ${othersName}`}
      min={1}
      max={100}
      allowDecimal={false}
      allowNegative={false}
      number={value}
      onNumber={(weight) => onChange(weight ?? 1)}
    />
  );
}
