import { isAscii } from 'node:buffer';
import { findLongStrings } from './long-strings.ts';

/** A text of fewer bytes counts as its bytes, so that examining it costs a usual request nothing. */
const minExaminedBytes = 256 * 1024;

/**
 * Computes the bytes of memory that V8 needs for the strings of a JSON text in UTF-8. V8 stores a string with a character above U+00FF with
 * two bytes for each character, and so also everything that is written from it. Long strings that `parseJsonText` does not decode count
 * once.
 */
export function computeTextMemory(text: Buffer): number {
  if (text.length < minExaminedBytes || !mayHaveWideCharacter(text)) return text.length;
  const unreadBytes = findLongStrings(text).reduce((sum, { start, end }) => sum + end - start, 0);
  return 2 * text.length - unreadBytes;
}

/** Whether a JSON text has a character above U+00FF, or an escape that may stand for one. */
function mayHaveWideCharacter(text: Buffer): boolean {
  return (text.includes(String.raw`\u`) && hasWideEscape(text)) || (!isAscii(text) && hasWideByte(text));
}

/** Whether a JSON text has an escape `\uXXXX` for a character above U+00FF. `\\u` is an escaped backslash before a letter. */
function hasWideEscape(text: Buffer): boolean {
  const [backslash, letter, zero] = [0x5c, 0x75, 0x30];
  for (let at = text.indexOf(backslash); at < text.length; at += 1) {
    if (text[at] !== backslash) continue;
    at += 1;
    if (text[at] === letter && (text[at + 1] !== zero || text[at + 2] !== zero)) return true;
  }
  return false;
}

/** Whether UTF-8 has a byte from 0xC4 on. Only characters above U+00FF begin with such a byte, and no other byte of a character is one. */
function hasWideByte(text: Buffer): boolean {
  const head = Math.min(text.length, -text.byteOffset & 3);
  const words = new Int32Array(text.buffer, text.byteOffset + head, (text.length - head) >> 2);
  // Checks four bytes at a time: the highest two bits of a byte are set, and one of the next four.
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    if ((word & (word << 1) & ((word << 2) | (word << 3) | (word << 4) | (word << 5)) & 0x80808080) !== 0) return true;
  }
  const rest = [...text.subarray(0, head), ...text.subarray(head + words.byteLength)];
  return rest.some((byte) => byte >= 0xc4);
}
