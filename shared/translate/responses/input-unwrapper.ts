import { isJsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/** The name of the only argument of a function that replaces a custom tool: the input of the custom tool. */
export const inputArgument = 'input';

/** Matches the beginning of arguments whose first field is the input. */
const opening = /^\s*\{\s*"input"\s*:\s*"/;

/**
 * Maximum characters of a beginning that `opening` matches. From arguments that begin differently, the input is extracted once they are
 * complete.
 */
const maxOpeningLength = 100;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Extracts the input of a custom tool from the arguments of the function that replaces the tool, `{"input": "…"}`, while the arguments
 * arrive.
 */
export class InputUnwrapper {
  /**
   * The JSON text that is not consumed yet. Consumed text is dropped, because searching the whole text for each piece takes quadratic time.
   */
  #json = '';
  #place: 'before' | 'within' | 'after' = 'before';
  #input = '';

  /** Adds a piece of the arguments and returns the new text of the input. */
  addPiece(json: string): string {
    if (this.#place === 'after') return '';
    const known = this.#json.length;
    this.#json += json;
    if (this.#place === 'before') {
      if (known > maxOpeningLength) return '';
      const begun = opening.exec(this.#json);
      if (!begun) return '';
      this.#place = 'within';
      this.#json = this.#json.slice(begun[0].length);
    }
    const text = this.#takeText();
    this.#input += text;
    return text;
  }

  /** Returns the whole input. Call it once the arguments are complete. Arguments of another form count as the input itself. */
  finish(): string {
    if (this.#place !== 'before') return this.#input;
    const value = parseUpstreamJson(this.#json);
    const argument = isJsonObject(value) ? (value[inputArgument] ?? findOnlyValue(Object.values(value))) : value;
    if (isJsonObject(value) && Object.keys(value).length === 0) return '';
    if (typeof argument === 'string') return argument;
    return this.#json;
  }

  /** Consumes the JSON string as far as its characters are complete. */
  #takeText(): string {
    const json = this.#json;
    let text = '';
    let at = 0;
    while (at < json.length) {
      const character = json[at] ?? '';
      if (character === '"') {
        this.#place = 'after';
        break;
      }
      const length = character === '\\' ? measureEscape(json, at) : 1;
      if (length === undefined) break;
      text += length === 1 ? character : unescape(json.slice(at, at + length));
      at += length;
    }
    this.#json = json.slice(at);
    return text;
  }
}

/**
 * Returns the length of the escape sequence at a position, or of both sequences of a surrogate pair. Returns undefined if a sequence is
 * incomplete.
 */
function measureEscape(json: string, at: number): number | undefined {
  const kind = json[at + 1];
  if (kind === undefined) return undefined;
  if (kind !== 'u') return 2;
  const code = Number.parseInt(json.slice(at + 2, at + 6), 16);
  const isFirstHalf = code >= 0xd800 && code < 0xdc00;
  const next = json.slice(at + 6, at + 8);
  const length = isFirstHalf && '\\u'.startsWith(next) ? 12 : 6;
  return json.length < at + length ? undefined : length;
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
