import { dateOf } from '../date-of.ts';
import { tableLines } from '../table-lines.ts';
import type { RecordingState } from './admin-answers.ts';
import type { AdminContext } from './admin-context.ts';

export interface ListForm<Item> {
  head: readonly string[];
  row: (item: Item) => readonly (string | number)[];
  /** What to say of an empty list. */
  none: string;
  /** The object to print; without it the item. */
  toJson?: (item: Item) => object;
}

/** Prints a list: a table, or one object on a line. */
export async function printList<Item>(
  { print, json }: Pick<AdminContext, 'print' | 'json'>,
  items: AsyncIterable<Item> | Iterable<Item>,
  { head, row, none, toJson }: ListForm<Item>,
): Promise<void> {
  const rows: string[][] = [];
  for await (const item of items) {
    if (json) print(JSON.stringify(toJson ? toJson(item) : item));
    else rows.push(row(item).map(String));
  }
  if (json) return;
  if (rows.length === 0) print(none);
  else for (const line of tableLines([head, ...rows])) print(line);
}

/** Prints one thing: its facts, one on a line, or the object. Facts without a value are left out. */
export function printFacts(
  { print, json }: Pick<AdminContext, 'print' | 'json'>,
  thing: object,
  facts: Readonly<Record<string, string | number | undefined>>,
): void {
  if (json) print(JSON.stringify(thing));
  else {
    const rows = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
    for (const line of tableLines(rows.map(([name, value]) => [name, String(value)]))) print(line);
  }
}

/** Prints what was done: a sentence, or an object. */
export function printDone({ print, json }: Pick<AdminContext, 'print' | 'json'>, done: object, sentence: string): void {
  print(json ? JSON.stringify(done) : sentence);
}

/** A day, or a dash for none. */
export function dayText(time: number | undefined): string {
  return time === undefined ? '-' : dateOf(time);
}

/** As `2026-11-24 16:05` (UTC), a dash for none. @param time in ms since 1970 */
export function minuteText(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

/** Named values as `a=1 b=2`; empty for none. */
export function valuesText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${kebab(name)}=${Array.isArray(value) ? value.join(',') : String(value)}`)
    .join(' ');
}

/** `requestsPerMinute` as `requests-per-minute`, as options and values of the command line are written. */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** By what requests are recorded, as `yes, for the team, since 2026-11-24 16:05, switched on by Ada`; undefined where they are not. */
export function recordingText(state: RecordingState | undefined): string | undefined {
  if (!state) return undefined;
  const by = state.by === undefined ? '' : `, switched on by ${state.by}`;
  return `yes, for the ${state.of}, since ${minuteText(state.since)}${by}`;
}
