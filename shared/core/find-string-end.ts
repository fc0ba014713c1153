/** For up to this many bytes of a string, a check of each byte is faster than a search for the end of the string. */
const shortLength = 64;
const backslash = 0x5c;
const quote = 0x22;

/**
 * Returns the position of the quote that ends a string.
 * @param start the position after the quote that begins the string
 */
export function findStringEnd(text: Buffer, start: number): number {
  let position = start;
  for (
    const nearEnd = Math.min(start + shortLength, text.length);
    position < nearEnd;
    position += text[position] === backslash ? 2 : 1
  ) {
    if (text[position] === quote) return position;
  }
  for (let end = text.indexOf(quote, position); end !== -1; end = text.indexOf(quote, end + 1)) {
    if (!isEscaped(text, end, position)) return end;
  }
  return text.length;
}

/**
 * Whether a backslash escapes the character at `end`.
 * @param from a position at which no character is escaped
 */
function isEscaped(text: Buffer, end: number, from: number): boolean {
  let slashes = 0;
  while (end - slashes > from && text[end - slashes - 1] === backslash) slashes += 1;
  return slashes % 2 === 1;
}
