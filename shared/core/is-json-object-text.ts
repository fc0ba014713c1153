import { maxLevels } from './json.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const openBrace = 0x7b;
/** Difference between a closing and an opening bracket or brace. */
const closing = 2;

const literals = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')];

/**
 * Whether a text in UTF-8 is one JSON object (RFC 8259), nested at most `maxLevels` deep. Builds no values, so that a text of any size takes
 * no memory.
 */
export function isJsonObjectText(text: Buffer): boolean {
  /** The opening byte of each list and object that has not ended. */
  const groups = new Uint8Array(maxLevels);
  let level = 0;
  let at = skipBlanks(text, 0);
  if (text[at] !== openBrace) return false;
  for (;;) {
    const byte = text[at];
    if (byte === openBrace || byte === openBracket) {
      if (level === maxLevels) return false;
      groups[level] = byte;
      level += 1;
      at = skipBlanks(text, at + 1);
      if (text[at] !== byte + closing) {
        if (byte === openBrace) at = findFieldValue(text, at);
        if (at === -1) return false;
        continue;
      }
    } else {
      at = findScalarEnd(text, at);
      if (at === -1) return false;
    }
    for (at = skipBlanks(text, at); ; at = skipBlanks(text, at + 1)) {
      if (level === 0) return at === text.length;
      const group = groups[level - 1] ?? 0;
      if (text[at] !== group + closing) {
        if (text[at] !== comma) return false;
        at = skipBlanks(text, at + 1);
        if (group === openBrace) at = findFieldValue(text, at);
        if (at === -1) return false;
        break;
      }
      level -= 1;
    }
  }
}

function skipBlanks(text: Buffer, from: number): number {
  let at = from;
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at += 1;
  return at;
}

/** Returns where the value of a field begins whose name begins at `from`; -1 if there is no name, or no colon behind it. */
function findFieldValue(text: Buffer, from: number): number {
  if (text[from] !== quote) return -1;
  const end = findStringEnd(text, from);
  if (end === -1) return -1;
  const at = skipBlanks(text, end);
  return text[at] === colon ? skipBlanks(text, at + 1) : -1;
}

/** Returns the end of a string, number or literal; -1 if there is none, or it is invalid. */
function findScalarEnd(text: Buffer, from: number): number {
  const byte = text[from];
  if (byte === quote) return findStringEnd(text, from);
  if (byte === 0x2d || isDigit(byte)) return findNumberEnd(text, from);
  const literal = literals.find((each) => each[0] === byte);
  return literal?.equals(text.subarray(from, from + literal.length)) === true ? from + literal.length : -1;
}

/** Returns the end of the string whose quotation mark is at `from`; -1 if it does not end, or is invalid. */
function findStringEnd(text: Buffer, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const byte = text[at] ?? 0;
    if (byte === quote) return at + 1;
    if (byte < 0x20) return -1;
    if (byte !== backslash) continue;
    at += 1;
    const escape = String.fromCharCode(text[at] ?? 0);
    if (escape === 'u') {
      if (!/^[\da-f]{4}$/i.test(text.toString('latin1', at + 1, at + 5))) return -1;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(escape)) return -1;
  }
  return -1;
}

function findNumberEnd(text: Buffer, from: number): number {
  const start = text[from] === 0x2d ? from + 1 : from;
  let at = text[start] === 0x30 ? start + 1 : skipDigits(text, start);
  if (at === start) return -1;
  if (text[at] === 0x2e) {
    const end = skipDigits(text, at + 1);
    if (end === at + 1) return -1;
    at = end;
  }
  if (text[at] === 0x65 || text[at] === 0x45) {
    const digits = text[at + 1] === 0x2b || text[at + 1] === 0x2d ? at + 2 : at + 1;
    at = skipDigits(text, digits);
    if (at === digits) return -1;
  }
  return at;
}

function skipDigits(text: Buffer, from: number): number {
  let at = from;
  while (isDigit(text[at])) at += 1;
  return at;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
