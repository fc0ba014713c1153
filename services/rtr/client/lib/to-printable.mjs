/** Maximum number of characters to print of a text from a router. */
const maxLength = 500;

/**
 * Returns a text from a router as one line, without characters that move a terminal's cursor or change the writing direction.
 * @param {string} text
 */
export function toPrintable(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '').trim().slice(0, maxLength);
}
