import { RouterError } from '#shared/core/errors.ts';
import { parseWholeNumber } from '../parse-whole-number.ts';

/** Creates the error for a field of a query or a form in OpenAI's formats. */
export function createFieldError(param: string, problem: string): RouterError {
  return new RouterError('invalid_request', `Invalid '${param}': it ${problem}.`, { param });
}

/**
 * Reads a whole number from a field of a query or a form.
 * @throws RouterError `invalid_request`
 */
export function readWholeNumber(param: string, value: unknown, min: number, max: number): number {
  const number = parseWholeNumber(value, min, max);
  if (number === undefined) throw createFieldError(param, `must be a whole number from ${min} to ${max}`);
  return number;
}
