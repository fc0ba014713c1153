import { isJsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/** The name of the only argument of a function that replaces a custom tool. Its value is the input of the custom tool. */
export const inputArgument = 'input';

/** Matches the beginning of arguments whose first field is the input. */
const opening = /^\s*\{\s*"input"\s*:\s*"/;

/** Maximum characters that `opening` matches. If longer arguments do not match, the input is extracted once they are complete. */
const maxOpeningLength = 100;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Extracts the input of a custom tool while the arguments `{"input": "…"}` of its function arrive. */
export class InputUnwrapper {
  /**
   * The JSON text that is not consumed yet. Consumed text is dropped, because a search of the whole text for each piece would take
   * quadratic time.
   */
  #json = '';
  #place: 'before' | 'within' | 'after' = 'before';
  #input = '';

  /** Adds a piece of the arguments. Returns the text that this piece adds to the input. */
  addPiece(json: string): string {
    if (this.#place === 'after') return '';
    const lengthBefore = this.#json.length;
    this.#json += json;
    if (this.#place === 'before') {
      if (lengthBefore > maxOpeningLength) return '';
      const match = opening.exec(this.#json);
      if (!match) return '';
      this.#place = 'within';
      this.#json = this.#json.slice(match[0].length);
    }
    const text = this.#takeText();
    this.#input += text;
    return text;
  }

  /** Returns the whole input. Call it once, when the arguments are complete. Arguments in another form count as the input itself. */
  finish(): string {
    if (this.#place !== 'before') return this.#input;
    const value = parseUpstreamJson(this.#json);
    const argument = isJsonObject(value) ? (value[inputArgument] ?? findOnlyValue(Object.values(value))) : value;
    if (isJsonObject(value) && Object.keys(value).length === 0) return '';
    if (typeof argument === 'string') return argument;
    return this.#json;
  }

  /** Consumes the complete characters of the JSON string. */
  #takeText(): string {
    const json = this.#json;
    let text = '';
    let index = 0;
    while (index < json.length) {
      const character = json[index] ?? '';
      if (character === '"') {
        this.#place = 'after';
        break;
      }
      const length = character === '\\' ? measureEscape(json, index) : 1;
      if (length === undefined) break;
      text += length === 1 ? character : unescape(json.slice(index, index + length));
      index += length;
    }
    this.#json = json.slice(index);
    return text;
  }
}

/**
 * Returns the length of the escape sequence at a position; for a surrogate pair, the length of both sequences. Returns undefined if a
 * sequence is incomplete.
 */
function measureEscape(json: string, index: number): number | undefined {
  const kind = json[index + 1];
  if (kind === undefined) return undefined;
  if (kind !== 'u') return 2;
  const code = Number.parseInt(json.slice(index + 2, index + 6), 16);
  const isFirstHalf = code >= 0xd800 && code < 0xdc00;
  const next = json.slice(index + 6, index + 8);
  const length = isFirstHalf && '\\u'.startsWith(next) ? 12 : 6;
  return json.length < index + length ? undefined : length;
}

function unescape(sequence: string): string {
  const kind = sequence[1] ?? '';
  if (kind !== 'u') return escapes[kind] ?? kind;
  const codes = sequence.match(/[\da-f]{4}/gi) ?? [];
  return String.fromCharCode(...codes.map((code) => Number.parseInt(code, 16)));
}

function findOnlyValue<T>(values: readonly T[]): T | undefined {
  return values.length === 1 ? values[0] : undefined;
}
