import { InvalidArgumentError } from 'commander';
import { RouterError } from '#shared/core/errors.ts';
import { toKebabCase } from './print-answers.ts';

/** Collects an option or argument `name=value` that may be given several times. */
export function collectNamedValue(text: string, before: readonly string[] | undefined): string[] {
  if (!/^[^=]+=./.test(text)) throw new InvalidArgumentError('must be written as name=value.');
  return [...(before ?? []), text];
}

/** Value of an option that can remove a setting. It is `none`, because commander uses null for an option without a value. */
export type OrNone<Value> = Value | 'none';

/** Returns the Admin API's value for an option that may be `none`. */
export function noneAsNull<Value>(value: OrNone<Value>): Value | null {
  return value === 'none' ? null : value;
}

/** Splits `a,b` into a list. Leaves `none` as it is. */
export function readListOrNone(text: string): OrNone<string[]> {
  if (text === 'none') return text;
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/**
 * Reads texts `name=value` into an object with the API's names: both `costPerDay` and `cost-per-day` are accepted.
 * @param names the names that exist
 * @param read reads a value
 * @throws RouterError `invalid_request` for another name
 */
export function readNamedValues<Name extends string, Value>(
  texts: readonly string[],
  names: readonly Name[],
  read: (text: string, name: Name) => Value,
): Partial<Record<Name, Value>> {
  const values: Partial<Record<Name, Value>> = {};
  for (const text of texts) {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const name = names.find((each) => each === key || toKebabCase(each) === key);
    if (name === undefined)
      throw new RouterError(
        'invalid_request',
        `${key} is none of ${names.map((each) => toKebabCase(each)).join(', ')}.`,
      );
    values[name] = read(value, name);
  }
  return values;
}

/**
 * Reads a number, or null for `none`.
 * @throws RouterError `invalid_request`
 */
export function readNumberOrNone(text: string, name: string): number | null {
  if (text === 'none') return null;
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number;
  throw new RouterError('invalid_request', `${toKebabCase(name)} must be a number, or none.`);
}
