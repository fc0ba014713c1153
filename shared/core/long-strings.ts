/** The position of a string in a JSON text, without its quotes. */
export interface StringRange {
  start: number;
  end: number;
}

/** Minimum bytes of a string that is worth finding. */
const minLength = 32 * 1024;

/** Bytes between two checked positions. Every string that is worth finding contains at least one of these positions. */
const stride = minLength / 2;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the long strings of a JSON text that need no decoding: ASCII without escapes, such as the base64 of an image. Checks only a few
 * positions of the text. So it is much faster than a parser, and may miss some strings.
 *
 * In valid JSON, every found range is a whole string: a value or the name of a field. In invalid JSON, a found range may be something else,
 * but the text stays invalid if strings of the same kind replace the found ranges. Strings of this kind begin with a letter, a digit, `+`
 * or `/`, and are ASCII without quotes, escapes and control characters.
 */
export function findLongStrings(text: Buffer): StringRange[] {
  const ranges: StringRange[] = [];
  for (let position = stride; position < text.length; position += stride) {
    const end = text.indexOf(quote, position);
    if (end === -1) break;
    const start = text.lastIndexOf(quote, position - 1) + 1;
    if (end - start >= minLength && isStringStart(text, start) && isPlainAscii(text.subarray(start, end)))
      ranges.push({ start, end });
    if (end > position) position += Math.floor((end - position) / stride) * stride;
  }
  return ranges;
}

/**
 * Whether the quote before a position opens a string. An escaped quote does not. After a quote that closes a string, JSON never has a
 * letter, a digit, `+` or `/`.
 */
function isStringStart(text: Buffer, start: number): boolean {
  const first = text[start] ?? 0;
  const isLetter = first >= 0x61 ? first <= 0x7a : first >= 0x41 && first <= 0x5a;
  const isDigit = first >= 0x30 && first <= 0x39;
  return start > 0 && text[start - 2] !== backslash && (isLetter || isDigit || first === 0x2b || first === 0x2f);
}

/** Whether all bytes are ASCII without control characters and backslashes. */
function isPlainAscii(text: Buffer): boolean {
  if (text.includes(backslash)) return false;
  const head = Math.min(text.length, -text.byteOffset & 3);
  const words = new Int32Array(text.buffer, text.byteOffset + head, (text.length - head) >> 2);
  // Checks four bytes at a time. The highest bit of a byte in `flags` is set if the byte is below a space or not ASCII.
  let flags = 0;
  // An iterator over the array takes eight times as long.
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? 0;
    flags |= ((word - 0x20202020) & ~word) | word;
  }
  if ((flags & 0x80808080) !== 0) return false;
  const rest = [...text.subarray(0, head), ...text.subarray(head + words.byteLength)];
  return rest.every((byte) => byte >= 0x20 && byte < 0x80);
}
