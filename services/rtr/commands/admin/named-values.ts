import { InvalidArgumentError } from 'commander';
import { RouterError } from '#shared/core/errors.ts';
import { toKebabCase } from './format-value.ts';

/** Adds a text `name=value` to the earlier values of a repeatable option. */
export function collectNamedValue(text: string, before: readonly string[] | undefined): string[] {
  if (!/^[^=]+=./.test(text)) throw new InvalidArgumentError('must be written as name=value.');
  return [...(before ?? []), text];
}

/**
 * Reads texts `name=value` into an object with the API's names: both `costPerDay` and `cost-per-day` are accepted.
 * @param names the valid names
 * @param read parses a value
 * @throws RouterError `invalid_request` for an unknown name
 */
export function readNamedValues<Name extends string, Value>(
  texts: readonly string[],
  names: readonly Name[],
  read: (text: string, name: Name) => Value,
): Partial<Record<Name, Value>> {
  const values: Partial<Record<Name, Value>> = {};
  for (const text of texts) {
    const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    const name = names.find((name) => name === key || toKebabCase(name) === key);
    if (name === undefined)
      throw new RouterError(
        'invalid_request',
        `${key} is none of ${names.map((name) => toKebabCase(name)).join(', ')}.`,
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
