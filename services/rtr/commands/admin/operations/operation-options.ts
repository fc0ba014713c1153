import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { createWholeNumberParser } from '../../whole-number.ts';
import { toKebabCase } from '../format-value.ts';
import { collectNamedValue, readNamedValues, readNumberOrNone } from '../named-values.ts';
import { readFutureTime, readMinutes, readPastTime, readSpan } from '../read-time.ts';
import type { InputField } from './input-field.ts';

/** The value on the command line that removes a setting. */
export const removalWord = 'none';

/** Adds an option for each field. A switch has a second option `--no-…`. */
export function addFieldOptions(command: Command, fields: readonly InputField[]): void {
  for (const field of fields) {
    if (field.kind === 'switch') {
      const { flag, description = toWords(flag) } = field;
      command.option(`--${flag}`, description).option(`--no-${flag}`, `the opposite of --${flag}`);
      continue;
    }
    const option = new Option(`--${field.flag} <${toPlaceholder(field)}>`, describeField(field));
    if (field.kind === 'choice') option.choices(field.choices);
    option.argParser((text: string, before: unknown) => readField(field, text, before));
    command.addOption(field.isRequired ? option.makeOptionMandatory() : option);
  }
}

/** Adds a field as an argument. */
export function addFieldArgument(command: Command, field: InputField): void {
  const name = field.kind === 'list' ? `${field.flag}...` : field.flag;
  const argument = new Argument(field.isRequired ? `<${name}>` : `[${name}]`, describeField(field));
  if (field.kind === 'choice') argument.choices(field.choices);
  command.addArgument(argument.argParser((text: string, before: unknown) => readField(field, text, before)));
}

/** Returns the values of an object that is given as texts `name=value`. Returns other values unchanged. */
export function completeField({ kind, choices }: InputField, value: unknown): unknown {
  return kind === 'amounts' ? readNamedValues(value as string[], choices, readNumberOrNone) : value;
}

/**
 * Reads the text of an option or an argument.
 * @param before the value of an earlier option of the same name
 * @throws InvalidArgumentError
 */
function readField(field: InputField, text: string, before: unknown): unknown {
  const { kind, range, choices } = field;
  if (kind === 'amounts') return collectNamedValue(text, before as string[] | undefined);
  if (text === removalWord && (field.isNullable || kind === 'list' || kind === 'future')) return removalWord;
  switch (kind) {
    case 'whole':
      return createWholeNumberParser(range.min, range.max)(text);
    case 'number':
      return readNumber(text);
    case 'list':
      return [...(Array.isArray(before) ? (before as string[]) : []), ...splitList(text)];
    case 'past':
      return readPastTime(text);
    case 'future':
      return readFutureTime(text);
    case 'span':
      return readSpan(text);
    case 'minutes':
      return readMinutes(text);
    case 'mixed':
      return text === 'true' || text === 'false' ? text === 'true' : splitList(text);
    case 'choice':
      if (choices.includes(text)) return text;
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
    case 'text':
    case 'switch':
      return text;
  }
}

function readNumber(text: string): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError('must be a number.');
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function toPlaceholder({ kind, flag }: InputField): string {
  if (kind === 'amounts') return 'name=value';
  if (kind === 'past' || kind === 'future') return 'time';
  if (kind === 'whole' || kind === 'number') return 'number';
  return kind === 'text' ? flag : kind === 'choice' ? (flag.split('-').at(-1) ?? flag) : kind;
}

const forms: Partial<Record<InputField['kind'], string>> = {
  list: 'separated by commas',
  past: 'a date, a time, or a span until now such as 12h or 7d',
  future: 'a date, a time, or a span from now such as 30d',
  span: 'such as 12h or 7d',
  minutes: 'such as 30m, 1h or 7d',
  mixed: 'true, false, or a list separated by commas',
};

function describeField({ kind, flag, description, choices, absent, isNullable }: InputField): string {
  const amounts =
    kind === 'amounts' ? `${choices.map(toKebabCase).join(', ')}; repeatable; none removes one` : undefined;
  const removal = isNullable && kind !== 'amounts' ? 'none: no restriction' : undefined;
  const details = [amounts ?? forms[kind], removal, absent && `default: ${formatDefault(kind, absent)}`];
  const text = details.filter(Boolean).join('; ');
  const isExplained = description !== undefined && !description.startsWith('Absent');
  const sentence = isExplained ? description : [toWords(flag), description].filter(Boolean).join('. ');
  return [sentence.replaceAll('`', '').replace(/\.$/, ''), ...(text === '' ? [] : [text])].join('; ');
}

function formatDefault(kind: InputField['kind'], absent: string): string {
  if (kind === 'span') return `${Number(absent) / 3_600_000}h`;
  return kind === 'minutes' ? `${Number(absent) / 60}h` : absent;
}

function toWords(flag: string): string {
  return flag.replaceAll('-', ' ');
}
