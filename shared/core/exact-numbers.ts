import { hasMoreValues, type ValueCounts } from './has-more-values.ts';

declare global {
  interface JSON {
    /** Wraps the text of a number in a value that `stringify` writes as this text. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (this: NumberHolder, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/** The texts of the numbers in an object or array that `JSON.stringify` would write differently, by name or index. */
const exactNumbers = Symbol('numbers as given');

interface NumberHolder {
  [exactNumbers]?: Map<string, string>;
}

/**
 * Matches a number that may change when it is parsed and written: more than 15 digits, an exponent, a zero at the end of its fraction, a
 * small fraction, or -0. A match within a string is harmless.
 */
const changeableNumber = /\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d+[\s,\]}\\]|\.\d*0[\s,\]}\\]|\.000000)|-0[\s,\]}\\]/;

/** The numbers of a text with more values than this may change, because keeping them takes two microseconds for each value. */
const maxValues: ValueCounts = { values: 100_000, groups: 100_000 };

/**
 * Parses a JSON text so that `writeExact` can write its numbers as they stand in the text, even `1.0`, `1e400`, and integers that a
 * JavaScript number cannot hold exactly. This also works for copies of the parsed objects that a spread makes. Numbers of a text with more
 * than `maxValues` may change. See docs/decisions/0030-numbers-as-given.md.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return parseWithWriter(text).value;
}

/**
 * Parses a JSON text like `parseExact`.
 * @returns the value, and how objects made of it are written: as `writeExact` does, or by the faster `JSON.stringify` if it writes the same
 * @throws SyntaxError
 */
export function parseWithWriter(text: string): { value: unknown; stringify: (value: unknown) => string } {
  const mayChange = changeableNumber.test(text) && !hasMoreValues(Buffer.from(text), maxValues);
  return mayChange
    ? { value: JSON.parse(text, keepNumber), stringify: writeExact }
    : { value: JSON.parse(text), stringify: JSON.stringify };
}

/** Converts a value to JSON. Numbers from `parseExact` stay as they were in the parsed text. */
export function writeExact(value: unknown): string {
  return JSON.stringify(value, writeNumber);
}

/** Characters after which `writeExactInPieces` ends a piece. */
const pieceCharacters = 16 * 1024;

/**
 * Writes a value as `writeExact` does, in pieces that begin and end beside whole tokens. Takes up to twice as long, and never has the whole
 * text in memory, which V8 would store with two bytes for each character if one of them is above U+00FF.
 */
export function writeExactInPieces(root: unknown, onPiece: (piece: string) => void): void {
  let piece = '';
  const add = (token: string): void => {
    piece += token;
    if (piece.length < pieceCharacters) return;
    onPiece(piece);
    piece = '';
  };
  const write = (holder: NumberHolder, key: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null)
      return add(JSON.stringify(writeNumber.call(holder, key, value)) ?? 'null');
    const isList = Array.isArray(value);
    let isFirst = true;
    for (const name of isList ? value.keys() : Object.keys(value)) {
      const inner = (value as Record<string | number, unknown>)[name];
      if (!isList && inner === undefined) continue;
      add(isFirst ? (isList ? '[' : '{') : ',');
      if (!isList) add(`${JSON.stringify(name)}:`);
      write(value, String(name), inner);
      isFirst = false;
    }
    if (isFirst) add(isList ? '[' : '{');
    add(isList ? ']' : '}');
  };
  write({}, '', root);
  onPiece(piece);
}

function keepNumber(this: NumberHolder, key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || source === JSON.stringify(value)) return value;
  this[exactNumbers] ??= new Map();
  this[exactNumbers].set(key, source);
  return value;
}

function writeNumber(this: NumberHolder, key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const digits = this[exactNumbers]?.get(key);
  // The value may have been replaced since it was parsed.
  return digits !== undefined && Object.is(Number(digits), value) ? JSON.rawJSON(digits) : value;
}
