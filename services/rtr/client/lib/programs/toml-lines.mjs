/**
 * A line of a TOML file.
 * @typedef {object} TomlLine
 * @property {string} line
 * @property {string} [table] name of the table that the line opens
 * @property {string} [path] name of the value that begins in the line, after the name of its table
 * @property {string} value text after the name, or the whole line if it has no name; without the comment
 * @property {string} comment comment with its `#`; empty if the line has none
 * @property {boolean} continues whether the line belongs to a text or a list that began in an earlier line
 */

/**
 * State at the end of a line: the quotes that opened a text of several lines (`mark`), and the number of open lists.
 * @typedef {{ mark: string, depth: number }} Scan
 */

/**
 * Splits a TOML file into lines. Names are without their quotes and blanks.
 * @param {string} text
 * @returns {TomlLine[]}
 */
export function parseTomlLines(text) {
  /** @type {Scan} */
  let scan = { mark: '', depth: 0 };
  let table = '';
  return text.split(/\r?\n/).map((line) => {
    const continues = scan.mark !== '' || scan.depth > 0;
    const header = continues ? undefined : /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      table = toPlainName(header);
      return { line, table, value: line, comment: '', continues };
    }
    const name = continues
      ? undefined
      : /^\s*((?:["'][^"']*["']|[\w-]+)(?:\s*\.\s*(?:["'][^"']*["']|[\w-]+))*)\s*=/.exec(line);
    const { commentAt, ...after } = scanLine(line, scan);
    scan = after;
    const value = line.slice(name?.[0].length ?? 0, commentAt).trim();
    const path = name && [table, toPlainName(name[1] ?? '')].filter((part) => part !== '').join('.');
    return { line, ...(path && { path }), value, comment: line.slice(commentAt).trimEnd(), continues };
  });
}

/**
 * Returns the text at a path, if it is on one line and without escapes.
 * @param {readonly TomlLine[]} lines
 * @param {string} path
 */
export function findText(lines, path) {
  const value = lines.find((line) => line.path === path)?.value ?? '';
  const [, text] = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(value)?.filter((part) => part !== undefined) ?? [];
  return text;
}

/** @param {string} name as it is written, with quotes and blanks */
export function toPlainName(name) {
  return name.replaceAll(/["'\s]/g, '');
}

/**
 * @param {string} line
 * @param {Scan} before
 * @returns {Scan & { commentAt: number }} `commentAt`: index at which the comment begins; the length of a line without a comment
 */
function scanLine(line, { mark, depth }) {
  let commentAt = line.length;
  for (let at = 0; at < commentAt; at += 1) {
    if (mark !== '') {
      // A basic text has escapes, a literal text has none.
      if (mark.startsWith('"') && line[at] === '\\') at += 1;
      else if (line.startsWith(mark, at)) {
        at += mark.length - 1;
        mark = '';
      }
    } else if (line[at] === '#') commentAt = at;
    else if (/["']/.test(line[at] ?? '')) {
      const quote = line[at] ?? '';
      mark = line.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
      at += mark.length - 1;
    } else if (/[[{]/.test(line[at] ?? '')) depth += 1;
    else if (/[\]}]/.test(line[at] ?? '')) depth -= 1;
  }
  // A text that was opened by one quote ends with its line.
  return { mark: mark.length === 3 ? mark : '', depth: Math.max(0, depth), commentAt };
}
