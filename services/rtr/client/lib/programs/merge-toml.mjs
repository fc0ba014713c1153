/** @typedef {Record<string, string | number | readonly string[]>} Table */

/**
 * A file of TOML with some values at its top and some tables replaced, and every other line as it was, comments too.
 * @param {string} before
 * @param {Table} top values that stand before all tables
 * @param {Record<string, Table>} tables by name
 */
export function mergeToml(before, top, tables) {
  const kept = keptLines(before, new Set(Object.keys(top)), new Set(Object.keys(tables)));
  const firstTable = kept.findIndex(({ opens }) => opens);
  const at = firstTable === -1 ? kept.length : firstTable;
  const texts = kept.map(({ line }) => line);
  const head = trimmed([...linesOf(top), ...texts.slice(0, at)]);
  const rest = trimmed(texts.slice(at));
  const own = Object.entries(tables).map(([name, values]) => [`[${name}]`, ...linesOf(values)].join('\n'));
  return `${[head, rest, ...own].filter((text) => text !== '').join('\n\n')}\n`;
}

/**
 * The lines of a file without the values and tables that are replaced.
 * @param {string} text
 * @param {ReadonlySet<string>} top
 * @param {ReadonlySet<string>} tables
 */
function keptLines(text, top, tables) {
  /** @type {{ line: string, opens: boolean }[]} */
  const kept = [];
  let table = '';
  /** @type {string | undefined} the mark that ends the text of several lines that this line is in */
  let mark;
  let isDropped = false;
  for (const line of text.split(/\r?\n/)) {
    const isInside = mark !== undefined;
    const header = isInside ? undefined : /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      table = header.replaceAll(/["'\s]/g, '');
      isDropped = tables.has(table);
    } else if (!isInside && table === '') {
      isDropped = top.has(/^\s*["']?([\w-]+)["']?\s*=/.exec(line)?.[1] ?? '');
    }
    if (!isDropped) kept.push({ line, opens: header !== undefined });
    for (const [found] of line.matchAll(/"""|'''/g)) {
      if (mark === undefined) mark = found;
      else if (mark === found) mark = undefined;
    }
  }
  return kept;
}

/** @param {Table} table */
function linesOf(table) {
  return Object.entries(table).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
}

/** @param {readonly string[]} lines */
function trimmed(lines) {
  return lines.join('\n').replace(/^\n+|\s+$/g, '');
}
