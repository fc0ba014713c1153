import { NumberField } from './number-field.tsx';

export interface WeightFieldProps {
  /** The others in the queue, as the `description` names them. */
  among: string;
  value: number;
  onChange: (weight: number) => void;
}

/** An input for a weight. An empty input means 1. */
export function WeightField({ among: othersName, value, onChange }: WeightFieldProps) {
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
