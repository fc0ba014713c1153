import { z } from 'zod';
import { isJsonObject } from '#shared/core/json.ts';
import type { OperationDescription } from '../../../../console/contract/operation.ts';
import { toTableLines } from '../../table-lines.ts';
import type { AdminContext } from '../admin-context.ts';
import { formatAnswerValue, toKebabCase } from '../format-value.ts';
import { unwrap } from './input-field.ts';

type Output = Pick<AdminContext, 'print' | 'json'>;
type Item = Readonly<Record<string, unknown>>;

/** The characters of a text beyond which it is no cell of a table. */
const maxCell = 200;

/** Prints a list: a table, or one JSON object per line. */
export async function printItems(
  { print, json }: Output,
  { form }: OperationDescription,
  items: AsyncIterable<object> | Iterable<object>,
  schema: z.ZodType | undefined,
): Promise<void> {
  const found: Item[] = [];
  for await (const item of items) {
    if (json) print(JSON.stringify(item));
    else found.push(item as Item);
  }
  if (json) return;
  if (found.length === 0) print(form.none ?? 'There are none.');
  else printTable(print, found, form.columns ?? listColumns(schema, form.hidden));
}

/** Prints one object: a line for each fact, and a table for each list of objects; or JSON. */
export function printObject({ print, json }: Output, { form, answer }: OperationDescription, value: object): void {
  if (json) return print(JSON.stringify(value));
  const { hidden = [] } = form;
  const [facts, tables, texts]: [string[][], [string, Item[]][], [string, string][]] = [[], [], []];
  for (const [name, field] of Object.entries(value)) {
    if (hidden.includes(name)) continue;
    const text = formatAnswerValue(name, field);
    if (isTable(field)) tables.push([name, field]);
    else if (text.length > maxCell || text.includes('\n')) texts.push([name, text]);
    else if (text !== '') facts.push([toTitle(name), text]);
  }
  for (const line of toTableLines(facts)) print(line);
  for (const [name, items] of tables) {
    print('');
    printTable(print, items, listColumns(findItem(answer, name), hidden), name);
  }
  for (const [name, text] of texts) {
    print('');
    print(`${toTitle(name)}:`);
    // Each line is printed as a cell, in which characters that control a terminal are replaced.
    for (const line of text.split('\n')) print(toTableLines([[line]]).join(''));
  }
}

/**
 * Returns a sentence with the values in place of names in braces, such as `{token.name}`.
 * @param names values that take precedence over fields of the answer
 */
export function fillSentence(sentence: string, names: Readonly<Record<string, string>>, answer: unknown): string {
  return sentence.replaceAll(/\{([\w.]+)\}/g, (_, path: string) => names[path] ?? formatAt(answer, path));
}

function printTable(print: Output['print'], items: readonly Item[], columns: readonly string[], title?: string): void {
  const head = columns.map((column) => {
    const last = column.split('.').at(-1) ?? column;
    // Names such as `of` say nothing without the object that has them.
    return toTitle(last.length < 3 ? column.replaceAll('.', '-') : last).toUpperCase();
  });
  const rows = items.map((item) => columns.map((column) => formatAt(item, column) || '-'));
  if (title !== undefined) print(`${toTitle(title)}:`);
  for (const line of toTableLines([head, ...rows])) print(line);
}

/** Returns the columns of a table: fields, and the fields of sums. Lists of objects fit into no cell. */
function listColumns(schema: z.ZodType | undefined, hidden: readonly string[] = []): string[] {
  const { type } = schema ? unwrap(schema) : {};
  if (!(type instanceof z.ZodObject)) return [];
  return Object.entries(type.shape).flatMap(([name, field]) => {
    const { type: inner } = unwrap(field as z.ZodType);
    if (
      hidden.includes(name) ||
      (inner instanceof z.ZodArray && unwrap(inner.element as z.ZodType).type instanceof z.ZodObject)
    )
      return [];
    const isSum =
      inner instanceof z.ZodObject &&
      Object.values(inner.shape).every((each) => unwrap(each as z.ZodType).type instanceof z.ZodNumber);
    return isSum && name !== 'limits' ? Object.keys(inner.shape).map((each) => `${name}.${each}`) : [name];
  });
}

/** Returns the schema of the items of a list in an object. */
export function findItem(schema: z.ZodType | undefined, name: string): z.ZodType | undefined {
  const { type } = schema ? unwrap(schema) : {};
  const list = type instanceof z.ZodObject ? (type.shape[name] as z.ZodType | undefined) : undefined;
  const array = list && unwrap(list).type;
  return array instanceof z.ZodArray ? (array.element as z.ZodType) : undefined;
}

function isTable(value: unknown): value is Item[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isJsonObject(item));
}

/** Formats the value that a path such as `owner.name` leads to, through lists too. */
function formatAt(value: unknown, path: string): string {
  const names = path.split('.');
  const found = names.reduce<unknown>((inner, name) => readField(inner, name), value);
  const last = names.at(-1) ?? path;
  if (names.length === 1 || !Array.isArray(readField(value, names[0] ?? '')) || !Array.isArray(found))
    return formatAnswerValue(last, found);
  // Each item of the list has a place, so that columns of one list can be read side by side.
  const texts = found.map((each) => formatAnswerValue(last, each) || '-');
  return texts.every((text) => text === '-') ? '' : texts.join(', ');
}

function readField(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => readField(item, name));
  return isJsonObject(value) ? value[name] : undefined;
}

/** Converts `lastUsedAt` into `last used`. */
function toTitle(name: string): string {
  return toKebabCase(name)
    .replace(/(?<=.)-(?:at)$/, '')
    .replaceAll('-', ' ');
}
