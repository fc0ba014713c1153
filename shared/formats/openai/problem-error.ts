import { RouterError } from '#shared/core/errors.ts';
import type { FieldPath, Problem } from '../validation/find-first-problem.ts';

/** Returns the error for a problem of a request in OpenAI's formats; `param` is a path such as `messages[0].content[1].type`. */
export function createProblemError(problem: Problem): RouterError {
  const param = formatOpenaiPath(problem.path);
  if (problem.path.length === 0) {
    return new RouterError('invalid_request', 'The request body must be a JSON object.');
  }
  switch (problem.kind) {
    case 'missing':
      return new RouterError('missing_parameter', `Missing required parameter: '${param}'.`, { param });
    case 'expected':
      return createExpectedError(problem, param);
    case 'too_small':
      return createValueError(
        param,
        `expected ${describeAmount(problem.of, problem.minimum, 'at least')}`,
        problem.got,
      );
    case 'too_big':
      return createValueError(param, `expected ${describeAmount(problem.of, problem.maximum, 'at most')}`, problem.got);
  }
}

function createExpectedError(problem: Problem & { kind: 'expected' }, param: string): RouterError {
  if (problem.got === 'function' && problem.path.at(-1) === 'role') {
    const hint = "The role 'function' is not supported; answer a tool call with a message of role 'tool'.";
    return new RouterError('unsupported_parameter', hint, { param });
  }
  const expectations = [...problem.values.map((value) => `'${value}'`), ...problem.types.map(addArticle)];
  return createValueError(param, `expected ${expectations.join(' or ')}`, problem.got);
}

function createValueError(param: string, expected: string, got: unknown): RouterError {
  return new RouterError(
    'invalid_request',
    `Invalid value for '${param}': ${expected}, but got ${describeValue(got)}.`,
    {
      param,
    },
  );
}

/** Describes a number or boolean by its value. Describes any other value by its type, because the value may be long or private. */
function describeValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return addArticle(typeof value);
}

function describeAmount(type: 'number' | 'array' | 'string', bound: number, relation: string): string {
  switch (type) {
    case 'number':
      return `a number of ${relation} ${bound}`;
    case 'array':
      return `an array of ${relation} ${bound} ${bound === 1 ? 'item' : 'items'}`;
    case 'string':
      return `a string of ${relation} ${bound} ${bound === 1 ? 'character' : 'characters'}`;
  }
}

function addArticle(type: string): string {
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Writes a path as OpenAI's errors do, such as `messages[0].content`. */
export function formatOpenaiPath(path: FieldPath): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

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

/** Parses a whole number of a query or a form. Returns undefined for any other value, and for a number outside of the bounds. */
export function parseWholeNumber(value: unknown, min: number, max: number): number | undefined {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  return number >= min && number <= max ? number : undefined;
}
