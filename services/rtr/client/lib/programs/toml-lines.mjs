/**
 * A line of a TOML file.
 * @typedef {object} TomlLine
 * @property {string} line
 * @property {string} [table] name of the table that the line opens
 * @property {string} [path] dotted name of the value that begins on the line, including the name of its table
 * @property {string} value text after the name, or the whole line if no value begins on it; without the comment
 * @property {string} comment comment with its `#`; empty if the line has none
 * @property {boolean} continues whether the line continues a string or a list from an earlier line
 */

/**
 * State at the end of a line: the quotes of the multi-line string that is open (`mark`; empty if none is open), and the number of open
 * lists and inline tables (`depth`).
 * @typedef {{ mark: string, depth: number }} ScanState
 */

/**
 * Splits a TOML file into lines. Removes quotes and spaces from names.
 * @param {string} text
 * @returns {TomlLine[]}
 */
export function parseTomlLines(text) {
  /** @type {ScanState} */
  let state = { mark: '', depth: 0 };
  let table = '';
  return text.split(/\r?\n/).map((line) => {
    const continues = state.mark !== '' || state.depth > 0;
    const header = continues ? undefined : /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      table = toPlainName(header);
      return { line, table, value: line, comment: '', continues };
    }
    const name = continues
      ? undefined
      : /^\s*((?:["'][^"']*["']|[\w-]+)(?:\s*\.\s*(?:["'][^"']*["']|[\w-]+))*)\s*=/.exec(line);
    const { commentAt, ...after } = scanLine(line, state);
    state = after;
    const value = line.slice(name?.[0].length ?? 0, commentAt).trim();
    const path = name && [table, toPlainName(name[1] ?? '')].filter((part) => part !== '').join('.');
    return { line, ...(path && { path }), value, comment: line.slice(commentAt).trimEnd(), continues };
  });
}

/**
 * Returns the string at a path; undefined if it spans several lines or contains escapes.
 * @param {readonly TomlLine[]} lines
 * @param {string} path
 */
export function findText(lines, path) {
  const value = lines.find((line) => line.path === path)?.value ?? '';
  const [, text] = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(value)?.filter((part) => part !== undefined) ?? [];
  return text;
}

/** @param {string} name name as written, with quotes and spaces */
export function toPlainName(name) {
  return name.replaceAll(/["'\s]/g, '');
}

/**
 * @param {string} line
 * @param {ScanState} before
 * @returns {ScanState & { commentAt: number }} `commentAt`: index at which the comment begins; the length of a line without a comment
 */
function scanLine(line, { mark, depth }) {
  let commentAt = line.length;
  for (let index = 0; index < commentAt; index += 1) {
    if (mark !== '') {
      // A basic string has escapes, a literal string has none.
      if (mark.startsWith('"') && line[index] === '\\') index += 1;
      else if (line.startsWith(mark, index)) {
        index += mark.length - 1;
        mark = '';
      }
    } else if (line[index] === '#') commentAt = index;
    else if (/["']/.test(line[index] ?? '')) {
      const quote = line[index] ?? '';
      mark = line.startsWith(quote.repeat(3), index) ? quote.repeat(3) : quote;
      index += mark.length - 1;
    } else if (/[[{]/.test(line[index] ?? '')) depth += 1;
    else if (/[\]}]/.test(line[index] ?? '')) depth -= 1;
  }
  // A string that a single quote mark opened ends with its line.
  return { mark: mark.length === 3 ? mark : '', depth: Math.max(0, depth), commentAt };
}
