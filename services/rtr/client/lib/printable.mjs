/** Maximum number of characters that are shown of a router's text. */
const maxLength = 500;

/**
 * Returns a router's text in one line, without characters that move a terminal's cursor or turn the direction of writing.
 * @param {string} text
 */
export function printable(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '').trim().slice(0, maxLength);
}
