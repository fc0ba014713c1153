import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';

export interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'defaultValue' | 'onChange'> {
  /** Undefined while nothing is in the field. */
  number: number | undefined;
  onNumber: (number: number | undefined) => void;
}

/** A field for a number that may have a point: `12.` is text until its next digit comes, and stands there until then. */
export function NumberField({ number, onNumber, ...props }: NumberFieldProps) {
  const [typed, setTyped] = useState<number | string>(number ?? '');
  return (
    <NumberInput
      {...props}
      value={read(typed) === number ? typed : (number ?? '')}
      onChange={(next) => {
        setTyped(next);
        onNumber(read(next));
      }}
    />
  );
}

function read(typed: number | string): number | undefined {
  const number = Number.parseFloat(String(typed));
  return Number.isNaN(number) ? undefined : number;
}
