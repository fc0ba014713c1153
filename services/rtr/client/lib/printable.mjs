/** Characters of the longest text of a router that is shown. */
const maxLength = 500;

/**
 * What a router sends, in one line, without what moves a terminal's cursor or turns the direction of writing.
 * @param {string} text
 */
export function printable(text) {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '').trim().slice(0, maxLength);
}
