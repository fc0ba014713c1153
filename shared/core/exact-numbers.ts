declare global {
  interface JSON {
    /** Wraps the text of a number in a value that `stringify` writes as this text. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (this: Holder, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/** Texts of those numbers of an object or array that `JSON.stringify` would write differently, by name or index. */
const exactNumbers = Symbol('numbers as given');

interface Holder {
  [exactNumbers]?: Map<string, string>;
}

/**
 * Matches a number that may change when it is parsed and written: more than 15 digits, an exponent, a zero at the end of its fraction, a
 * small fraction, or -0. A match within a string is harmless.
 */
const changing = /\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d+[\s,\]}\\]|\.\d*0[\s,\]}\\]|\.000000)|-0[\s,\]}\\]/;

/** Whether a JSON text, or a text in one of its strings, may have a number that changes when it is parsed and written. */
export function mayChangeNumbers(text: string): boolean {
  return changing.test(text);
}

/**
 * Parses a JSON text so that `writeExact` can write its numbers as they were: also `1.0`, `1e400`, and integers that are larger than a
 * number holds exactly. This works for the value itself and for copies of its objects made by spread. See
 * docs/decisions/0030-numbers-as-given.md.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return mayChangeNumbers(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
}

/** Writes a value as JSON, with numbers from `parseExact` as they were in its text. */
export function writeExact(value: unknown): string {
  return JSON.stringify(value, givenNumber);
}

function keepNumber(this: Holder, key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || source === JSON.stringify(value)) return value;
  this[exactNumbers] ??= new Map();
  this[exactNumbers].set(key, source);
  return value;
}

function givenNumber(this: Holder, key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const digits = this[exactNumbers]?.get(key);
  // The value may have been replaced since.
  return digits !== undefined && Object.is(Number(digits), value) ? JSON.rawJSON(digits) : value;
}
