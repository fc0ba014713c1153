import type { z } from 'zod';

type Issue = Parameters<z.core.$ZodErrorMap>[0];

const typePhrases: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a date',
};

/**
 * Describes what is wrong with an input, for a person, as the rest of a sentence: `must be a number`. For schemas without messages of their
 * own: pass this function to `safeParse` as `error`.
 */
export function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${typePhrases[issue.expected] ?? issue.expected}`;
    case 'unrecognized_keys':
      return 'is not a known field';
    case 'invalid_value':
      return issue.input === undefined
        ? 'is missing'
        : `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return describeSize(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return describeSize(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is missing' : 'has none of the allowed forms';
    case 'invalid_format':
      return issue.format === 'url' ? 'must be an http or https address' : 'does not have the required form';
    default:
      return 'is not valid';
  }
}

/** Describes what is wrong with an input as a whole sentence: `This must be a number.` */
export function describeIssueInSentence(issue: Issue): string {
  return issue.code === 'unrecognized_keys' ? 'There is no such field.' : `This ${describeIssue(issue)}.`;
}

function describeSize(origin: string, bound: string, size: number | bigint): string {
  const unit = size === 1 || size === 1n ? '' : 's';
  if (origin === 'string') return `must have ${bound} ${size} character${unit}`;
  if (origin === 'array' || origin === 'set' || origin === 'map') return `must have ${bound} ${size} thing${unit}`;
  return `must be ${bound} ${size}`;
}
