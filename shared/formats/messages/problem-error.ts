import { RouterError } from '#shared/core/errors.ts';
import type { Problem } from '../validation/find-first-problem.ts';
import { parseWholeNumber } from '../openai/problem-error.ts';

/** Returns the error for a problem of a `messages` request. Its message contains the path with dots, then the expected value. */
export function createProblemError(problem: Problem): RouterError {
  const param = problem.path.join('.');
  if (param === '') return new RouterError('invalid_request', 'The request body must be a JSON object.');
  const code = problem.kind === 'missing' ? 'missing_parameter' : 'invalid_request';
  return new RouterError(code, `${param}: ${writeSentence(problem)}`, { param });
}

function writeSentence(problem: Problem): string {
  switch (problem.kind) {
    case 'missing':
      return 'Field required';
    case 'expected':
      return `Input should be ${listAlternatives(problem)}`;
    case 'too_small':
      return describeBound(problem.of, 'greater than or equal to', 'at least', problem.minimum);
    case 'too_big':
      return describeBound(problem.of, 'less than or equal to', 'at most', problem.maximum);
  }
}

function describeBound(
  type: 'number' | 'array' | 'string',
  comparison: string,
  relation: string,
  amount: number,
): string {
  switch (type) {
    case 'number':
      return `Input should be ${comparison} ${amount}`;
    case 'array':
      return `List should have ${relation} ${amount} ${amount === 1 ? 'item' : 'items'}`;
    case 'string':
      return `String should have ${relation} ${amount} ${amount === 1 ? 'character' : 'characters'}`;
  }
}

function listAlternatives({ values, types }: Problem & { kind: 'expected' }): string {
  const alternatives = [...values.map((value) => `'${value}'`), ...types.map(describeType)];
  const last = alternatives.pop() ?? 'something else';
  return alternatives.length === 0 ? last : `${alternatives.join(', ')} or ${last}`;
}

function describeType(type: string): string {
  return type === 'object' ? 'an object' : `a valid ${type === 'array' ? 'list' : type}`;
}

/** Creates the error for a field of a query or a form in Anthropic's API. */
export function createFieldError(param: string, problem: string): RouterError {
  return new RouterError('invalid_request', `${param}: ${problem}`, { param });
}

/**
 * Reads a whole number from a field of a query or a form.
 * @throws RouterError `invalid_request`
 */
export function readWholeNumber(param: string, value: unknown, min: number, max: number): number {
  const number = parseWholeNumber(value, min, max);
  if (number === undefined) throw createFieldError(param, `Input should be a whole number between ${min} and ${max}`);
  return number;
}
