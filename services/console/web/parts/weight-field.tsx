import { NumberField } from './number-field.tsx';

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
