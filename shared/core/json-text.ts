import { randomUUID } from 'node:crypto';
import { parseWithWriter, writeExactInPieces } from './exact-numbers.ts';
import type { JsonObject } from './json.ts';
import { parseAroundLists, type ListSizes } from './json-lists.ts';
import { findLongStrings } from './long-strings.ts';

export interface JsonText {
  /**
   * The value. A long string in it is decoded from the text when it is first used; this is transparent for code that reads the value.
   * See `parseExact` for its numbers.
   */
  value: unknown;
  /**
   * Writes an object as JSON, in UTF-8, in pieces. Long strings of `value` that were not moved to other objects are written as pieces of
   * the original text. Numbers are written as `writeExact` does.
   */
  write: (object: JsonObject) => Buffer[];
  /** Runs a check for which the first 32 characters of long strings are enough. While it runs, short strings replace the long strings. */
  skim: <Result>(check: () => Result) => Result;
  /** Whether lists in `value` were not parsed. Such a list contains one string instead of its elements. */
  hasUnreadLists: boolean;
}

/** A text of at most this many bytes is always parsed as a whole. */
export const maxWholeBytes = 64 * 1024;

/** A text that was parsed from at least this many characters is written in pieces, so that there is no copy of all its strings. */
const minPiecedCharacters = 1024 * 1024;

/** Characters of a long string that its replacement keeps at its start. */
const startLength = 32;

/**
 * Parses a JSON text in UTF-8. Its long strings, such as images, are neither scanned nor copied if they are only passed on.
 * See docs/decisions/0021-long-strings.md.
 * @param unread lists that need not be parsed, because the text is valid and the caller does not read them
 * @throws SyntaxError
 */
export function parseJsonText(text: Buffer, unread?: ListSizes): JsonText {
  if (text.length <= maxWholeBytes) return parseWhole(text);
  return (unread && parseWithoutLists(text, unread)) ?? parseInParts(text) ?? parseWhole(text);
}

function parseWhole(text: Buffer): JsonText {
  const { value, write } = parseWithEncoder(text.toString(), (piece) => [Buffer.from(piece)]);
  return { value, write, skim: (check) => check(), hasUnreadLists: false };
}

/**
 * Parses a text.
 * @param encode encodes a piece of what is written
 */
function parseWithEncoder(
  text: string,
  encode: (piece: string) => Buffer[],
): { value: unknown; write: JsonText['write'] } {
  const { value, stringify } = parseWithWriter(text);
  if (text.length < minPiecedCharacters) return { value, write: (object) => encode(stringify(object)) };
  const write = (object: JsonObject): Buffer[] => {
    const encoded: Buffer[] = [];
    writeExactInPieces(object, (piece) => encoded.push(...encode(piece)));
    return encoded;
  };
  return { value, write };
}

function parseWithoutLists(text: Buffer, lists: ListSizes): JsonText | undefined {
  const aroundLists = parseAroundLists(text, lists);
  return aroundLists && { ...aroundLists, skim: (check) => check(), hasUnreadLists: true };
}

/** Returns undefined if the text has no long strings as values. */
function parseInParts(text: Buffer): JsonText | undefined {
  const ranges = findLongStrings(text);
  if (ranges.length === 0) return undefined;
  // Generated after the text has arrived, so that the text cannot contain it.
  const mark = randomUUID();
  let skeleton = '';
  let from = 0;
  const strings = ranges.map(({ start, end }, index): PassedString => {
    skeleton += `${text.toString('utf8', from, start + startLength)}${mark}${index}`;
    from = end;
    return { bytes: text.subarray(start, end), text: undefined };
  });
  skeleton += text.toString('utf8', from);
  const state: StringMarks = { mark, strings, isSkimmed: false };
  const { value, write } = parseWithEncoder(skeleton, (piece) => writeInParts(piece, state));
  if (!putStringsBack(value, state)) return undefined;
  return {
    value,
    write: (object) => skim(state, () => write(object)),
    skim: (check) => skim(state, check),
    hasUnreadLists: false,
  };
}

interface PassedString {
  bytes: Buffer;
  /** The decoded string; undefined until it is used. */
  text: string | undefined;
}

interface StringMarks {
  /** In a text that is parsed or written, a long string is replaced by its first 32 characters, this mark, and its index in `strings`. */
  mark: string;
  strings: readonly PassedString[];
  /** Whether code that reads a long string gets its replacement. */
  isSkimmed: boolean;
}

/**
 * Replaces every string in a value that contains a mark by a property that returns the long string.
 * @returns false if a mark is elsewhere, that is, in the name of a field
 */
function putStringsBack(value: unknown, state: StringMarks): boolean {
  let remaining = state.strings.length;
  const pendingValues = [value];
  for (let current = pendingValues.pop(); current !== undefined; current = pendingValues.pop()) {
    if (typeof current !== 'object' || current === null) continue;
    for (const key of Array.isArray(current) ? current.keys() : Object.keys(current)) {
      const inner: unknown = (current as Record<string | number, unknown>)[key];
      if (typeof inner === 'object') pendingValues.push(inner);
      if (typeof inner !== 'string' || !inner.startsWith(state.mark, startLength)) continue;
      defineString(current, key, inner, state);
      remaining -= 1;
    }
  }
  return remaining === 0;
}

function defineString(object: object, key: string | number, marked: string, state: StringMarks): void {
  const string = state.strings[Number(marked.slice(startLength + state.mark.length))];
  if (!string) return;
  const get = (): string => (state.isSkimmed ? marked : (string.text ??= string.bytes.toString('latin1')));
  const set = (value: unknown): void =>
    void Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  Object.defineProperty(object, key, { get, set, enumerable: true, configurable: true });
}

function skim<Result>(state: StringMarks, run: () => Result): Result {
  state.isSkimmed = true;
  try {
    return run();
  } finally {
    state.isSkimmed = false;
  }
}

function writeInParts(text: string, { mark, strings }: StringMarks): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let position = text.indexOf(mark); position !== -1; position = text.indexOf(mark, from)) {
    const end = text.indexOf('"', position);
    const { bytes } = strings[Number(text.slice(position + mark.length, end))] ?? {};
    parts.push(Buffer.from(text.slice(from, position - startLength)));
    if (bytes) parts.push(bytes);
    from = end;
  }
  return [...parts, Buffer.from(text.slice(from))];
}
