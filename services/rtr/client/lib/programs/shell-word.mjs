/**
 * Quotes a text as one word of a POSIX shell.
 * @param {string} text
 */
export function quoteShellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
