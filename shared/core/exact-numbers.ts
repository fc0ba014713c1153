declare global {
  interface JSON {
    /** A value that `stringify` writes as this text, which is that of a number. */
    rawJSON(text: string): unknown;
    parse(
      text: string,
      reviver: (this: Holder, key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/** Texts of the numbers of an object or array which `JSON.stringify` writes in another way, by name or index. */
const numbersAsGiven = Symbol('numbers as given');

interface Holder {
  [numbersAsGiven]?: Map<string, string>;
}

/**
 * Matches where a number may stand that changes when it is parsed and written: one with more than 15 digits, an exponent, a zero at
 * the end of its fraction, a small fraction, or -0. In a string it means nothing.
 */
const changing = /\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d+[\s,\]}\\]|\.\d*0[\s,\]}\\]|\.000000)|-0[\s,\]}\\]/;

/** Whether a JSON text, or a text in one of its strings, may have a number that changes when it is parsed and written. */
export function mayChangeNumbers(text: string): boolean {
  return changing.test(text);
}

/**
 * Parses a JSON text. `writeExact` writes the numbers of its value, and of copies of objects in it that were made by spread, as they
 * stand in the text: also `1.0`, `1e400`, and integers that are larger than a number holds exactly. See
 * docs/decisions/0030-numbers-as-given.md.
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  return mayChangeNumbers(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
}

/** Writes a value as JSON, with the numbers that `parseExact` has read as they came. */
export function writeExact(value: unknown): string {
  return JSON.stringify(value, givenNumber);
}

function keepNumber(this: Holder, key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || source === JSON.stringify(value)) return value;
  this[numbersAsGiven] ??= new Map();
  this[numbersAsGiven].set(key, source);
  return value;
}

function givenNumber(this: Holder, key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  const given = this[numbersAsGiven]?.get(key);
  // The number may be another one by now.
  return given !== undefined && Object.is(Number(given), value) ? JSON.rawJSON(given) : value;
}
