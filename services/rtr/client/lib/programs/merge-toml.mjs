import { ClientError } from '../client-error.mjs';

/** @typedef {Record<string, string | number | readonly string[]>} Table */

/**
 * A file of TOML with some values at its top and some tables replaced, and every other line as it was, comments too.
 * @param {string} before
 * @param {Table} top values that stand before all tables
 * @param {Record<string, Table>} tables by name
 * @throws {ClientError} for a file that has one of the tables inside of another value
 */
export function mergeToml(before, top, tables) {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const kept = keptLines(before, new Set(Object.keys(top)), Object.keys(tables));
  const firstTable = kept.findIndex(({ opens }) => opens);
  const at = firstTable === -1 ? kept.length : firstTable;
  const texts = kept.map(({ line }) => line);
  const head = trimmed([...linesOf(top), ...texts.slice(0, at)]);
  const rest = trimmed(texts.slice(at));
  const own = Object.entries(tables).map(([name, values]) => [`[${name}]`, ...linesOf(values)].join('\n'));
  const whole = `${[head, rest, ...own].filter((text) => text !== '').join('\n\n')}\n`;
  return end === '\n' ? whole : whole.replaceAll('\n', end);
}

/**
 * The lines of a file without the values and tables that are replaced.
 * @param {string} text
 * @param {ReadonlySet<string>} top
 * @param {readonly string[]} tables
 */
function keptLines(text, top, tables) {
  /** @type {{ line: string, opens: boolean }[]} */
  const kept = [];
  /** @type {Scan} */
  let scan = { mark: '', depth: 0 };
  let table = '';
  let isTableDropped = false;
  let isValueDropped = false;
  for (const line of text.split(/\r?\n/)) {
    // Only a line that begins outside of texts and lists opens a table or has a name.
    const begins = scan.mark === '' && scan.depth === 0;
    const header = begins ? /^\s*\[\[?\s*([^\]]+?)\s*\]/.exec(line)?.[1] : undefined;
    if (header !== undefined) {
      table = plainName(header);
      isTableDropped = tables.includes(table);
      isValueDropped = false;
    } else if (begins) {
      const name = /^\s*((?:["'][^"']*["']|[\w-]+)(?:\s*\.\s*(?:["'][^"']*["']|[\w-]+))*)\s*=/.exec(line)?.[1];
      const path = name === undefined ? undefined : [table, plainName(name)].filter((part) => part !== '').join('.');
      isValueDropped =
        path !== undefined && (top.has(path) || tables.some((each) => `${path}.`.startsWith(`${each}.`)));
      if (path !== undefined && !isValueDropped && tables.some((each) => each.startsWith(`${path}.`))) {
        throw new ClientError(
          `The settings file has \`${path}\` as one value, which rtr cannot change. Make it a table.`,
        );
      }
    }
    if (!isTableDropped && !isValueDropped) kept.push({ line, opens: header !== undefined });
    scan = header === undefined ? scanLine(line, scan) : scan;
  }
  return kept;
}

/**
 * Where the end of a line stands: in a text of several lines with this mark, and in so many lists.
 * @typedef {{ mark: string, depth: number }} Scan
 */

/**
 * @param {string} line
 * @param {Scan} before
 * @returns {Scan}
 */
function scanLine(line, { mark, depth }) {
  for (let at = 0; at < line.length; at += 1) {
    if (mark !== '') {
      // A basic text has escapes, a literal one has none.
      if (mark.startsWith('"') && line[at] === '\\') at += 1;
      else if (line.startsWith(mark, at)) {
        at += mark.length - 1;
        mark = '';
      }
    } else if (line[at] === '#') break;
    else if (/["']/.test(line[at] ?? '')) {
      const quote = line[at] ?? '';
      mark = line.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
      at += mark.length - 1;
    } else if (/[[{]/.test(line[at] ?? '')) depth += 1;
    else if (/[\]}]/.test(line[at] ?? '')) depth -= 1;
  }
  // A text with a single quote ends with its line.
  return { mark: mark.length === 3 ? mark : '', depth: Math.max(0, depth) };
}

/** @param {string} name as it is written, with quotes and blanks */
function plainName(name) {
  return name.replaceAll(/["'\s]/g, '');
}

/** @param {Table} table */
function linesOf(table) {
  return Object.entries(table).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
}

/** @param {readonly string[]} lines */
function trimmed(lines) {
  return lines.join('\n').replace(/^\n+|\s+$/g, '');
}
