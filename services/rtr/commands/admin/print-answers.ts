import { formatDate } from '../format-date.ts';
import { toTableLines } from '../table-lines.ts';
import type { RecordingState } from './admin-answers.ts';
import type { AdminContext } from './admin-context.ts';

export interface ListForm<Item> {
  head: readonly string[];
  row: (item: Item) => readonly (string | number)[];
  /** Sentence to print for an empty list. */
  none: string;
  /** Returns the object that `--json` prints; default: the item itself. */
  toJson?: (item: Item) => object;
}

/** Prints a list: a table, or one JSON object per line. */
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
  else for (const line of toTableLines([head, ...rows])) print(line);
}

/**
 * Prints one object: a line for each fact, or JSON.
 * @param facts values by label; undefined and empty values are left out
 */
export function printFacts(
  { print, json }: Pick<AdminContext, 'print' | 'json'>,
  value: object,
  facts: Readonly<Record<string, string | number | undefined>>,
): void {
  if (json) print(JSON.stringify(value));
  else {
    const rows = Object.entries(facts).filter(([, fact]) => fact !== undefined && fact !== '');
    for (const line of toTableLines(rows.map(([name, fact]) => [name, String(fact)]))) print(line);
  }
}

/** Prints the result of a command: a sentence, or a JSON object. */
export function printDone({ print, json }: Pick<AdminContext, 'print' | 'json'>, done: object, sentence: string): void {
  print(json ? JSON.stringify(done) : sentence);
}

/** Formats a time as its UTC day, or as a dash if it is undefined. */
export function formatDay(time: number | undefined): string {
  return time === undefined ? '-' : formatDate(time);
}

/**
 * Returns a time such as `2026-11-24 16:05` (UTC), or a dash for undefined.
 * @param time ms since 1970
 */
export function formatMinute(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}

/**
 * Returns the owner of a key or a webhook, such as `team Research`, or `Ada` for a person.
 * @param name undefined: the router is the owner
 */
export function formatOwner(kind: string, name: string | undefined): string {
  if (name === undefined) return 'router';
  return kind === 'team' ? `team ${name}` : name;
}

/** Returns named values as `a=1 b=2`; empty without values. */
export function formatValues(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${toKebabCase(name)}=${Array.isArray(value) ? value.join(',') : String(value)}`)
    .join(' ');
}

/** Converts `requestsPerMinute` into `requests-per-minute`, the form of options and values on the command line. */
export function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Describes since when and for whom requests are recorded, such as `yes, for the team, since 2026-11-24 16:05, switched on by Ada`. Returns
 * undefined if the requests are not recorded.
 */
export function formatRecording(state: RecordingState | undefined): string | undefined {
  if (!state) return undefined;
  const by = state.by === undefined ? '' : `, switched on by ${state.by}`;
  return `yes, for the ${state.of}, since ${formatMinute(state.since)}${by}`;
}
