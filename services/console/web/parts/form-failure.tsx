import type { ApiFailure } from '../api/call-api.ts';
import { Failure } from './failure.tsx';

export interface FormFailureProps {
  /** The failed action, for example `The key was not created`. */
  title: string;
  error: ApiFailure | null;
  /** The contract's names for the inputs that show their own problem. */
  inputs: readonly string[];
}

/** Shows why a form failed, unless one of its inputs shows that. */
export function FormFailure({ title, error, inputs }: FormFailureProps) {
  if (!error || inputs.some((input) => error.findProblem(input) !== undefined)) return null;
  return <Failure title={title} error={error} />;
}
