import { randomUUID } from 'node:crypto';
import { mayChangeNumbers, parseExact, writeExact } from './exact-numbers.ts';
import type { JsonObject } from './json.ts';
import { parseAroundLists, type ListSizes } from './json-lists.ts';
import { findLongStrings } from './long-strings.ts';

/** A JSON text that was parsed. */
export interface JsonText {
  /**
   * Its value. A long string in it is read from the text when it is first used; whoever reads the value notices nothing. See
   * `parseExact` for its numbers.
   */
  value: unknown;
  /**
   * Writes an object as JSON, in UTF-8, in pieces. Long strings that it has from `value` and that nobody has moved to other objects
   * are pieces of the text, and its numbers are written as `writeExact` does.
   */
  write: (object: JsonObject) => Buffer[];
  /** Runs a check for which the first 32 characters of long strings are enough: short ones stand in their places meanwhile. */
  skim: <Result>(check: () => Result) => Result;
  /** Whether lists in `value` were not read: one text stands in each of them for all its elements. */
  hasUnreadLists: boolean;
}

/** Bytes of a text that is always parsed in the usual way. */
export const maxWhole = 64 * 1024;

/** Characters of a long string that what stands for it begins with. */
const startLength = 32;

/**
 * Parses a JSON text in UTF-8. Its long strings, such as images, are neither scanned nor copied as long as they are only passed on.
 * See docs/decisions/0021-long-strings.md.
 * @param unread lists in a valid text that nobody has to read
 * @throws SyntaxError
 */
export function parseJsonText(text: Buffer, unread?: ListSizes): JsonText {
  if (text.length <= maxWhole) return wholeText(text);
  return (unread && parseWithoutLists(text, unread)) ?? parseInParts(text) ?? wholeText(text);
}

function wholeText(text: Buffer): JsonText {
  const whole = text.toString();
  const stringify = writerOf(whole);
  const write = (object: JsonObject): Buffer[] => [Buffer.from(stringify(object))];
  return { value: parseExact(whole), write, skim: (check) => check(), hasUnreadLists: false };
}

function parseWithoutLists(text: Buffer, lists: ListSizes): JsonText | undefined {
  const parsed = parseAroundLists(text, lists);
  return parsed && { ...parsed, skim: (check) => check(), hasUnreadLists: true };
}

/** Undefined if the text has no long strings as values. */
function parseInParts(text: Buffer): JsonText | undefined {
  const found = findLongStrings(text);
  if (found.length === 0) return undefined;
  // Made when the text is here already, so that it cannot occur in it.
  const mark = randomUUID();
  let skeleton = '';
  let from = 0;
  const strings = found.map(({ start, end }, at): PassedString => {
    skeleton += `${text.toString('utf8', from, start + startLength)}${mark}${at}`;
    from = end;
    return { bytes: text.subarray(start, end), text: undefined };
  });
  skeleton += text.toString('utf8', from);
  const value = parseExact(skeleton);
  const stringify = writerOf(skeleton);
  const state: Passing = { mark, strings, isSkimmed: false };
  if (!putBack(value, state)) return undefined;
  return {
    value,
    write: (object) =>
      writeInParts(
        skim(state, () => stringify(object)),
        state,
      ),
    skim: (check) => skim(state, check),
    hasUnreadLists: false,
  };
}

interface PassedString {
  bytes: Buffer;
  /** Once it was used. */
  text: string | undefined;
}

interface Passing {
  /** Stands, between its start and its number, for each string in the text that is parsed or written. */
  mark: string;
  strings: readonly PassedString[];
  /** Whether the marks are read instead of the strings. */
  isSkimmed: boolean;
}

/** Replaces the marks in a value by properties that give the strings. @returns false if some stand elsewhere: in a field's name */
function putBack(value: unknown, state: Passing): boolean {
  let left = state.strings.length;
  const open = [value];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (typeof each !== 'object' || each === null) continue;
    for (const key of Array.isArray(each) ? each.keys() : Object.keys(each)) {
      const inner: unknown = (each as Record<string | number, unknown>)[key];
      if (typeof inner === 'object') open.push(inner);
      if (typeof inner !== 'string' || !inner.startsWith(state.mark, startLength)) continue;
      define(each, key, inner, state);
      left -= 1;
    }
  }
  return left === 0;
}

function define(object: object, key: string | number, marked: string, state: Passing): void {
  const string = state.strings[Number(marked.slice(startLength + state.mark.length))];
  if (!string) return;
  const get = (): string => (state.isSkimmed ? marked : (string.text ??= string.bytes.toString('latin1')));
  const set = (value: unknown): void =>
    void Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  Object.defineProperty(object, key, { get, set, enumerable: true, configurable: true });
}

function skim<Result>(state: Passing, run: () => Result): Result {
  state.isSkimmed = true;
  try {
    return run();
  } finally {
    state.isSkimmed = false;
  }
}

/** How an object is written whose numbers came in a text. The usual way is faster. */
function writerOf(text: string): (object: JsonObject) => string {
  return mayChangeNumbers(text) ? writeExact : JSON.stringify;
}

function writeInParts(text: string, { mark, strings }: Passing): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, from)) {
    const end = text.indexOf('"', at);
    const { bytes } = strings[Number(text.slice(at + mark.length, end))] ?? {};
    parts.push(Buffer.from(text.slice(from, at - startLength)));
    if (bytes) parts.push(bytes);
    from = end;
  }
  return [...parts, Buffer.from(text.slice(from))];
}
