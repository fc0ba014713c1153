import { ClientError } from '../client-error.mjs';
import { parseTomlLines } from './toml-lines.mjs';

/**
 * Values by name; undefined: the value is removed.
 * @typedef {Record<string, string | number | readonly string[] | undefined>} Table
 */

/**
 * Returns the text of a TOML file with some top-level values and some tables replaced, and every other line unchanged. Comments are kept,
 * except comments between the values of a replaced table.
 * @param {string} before text of the file
 * @param {Table} top values before the first table
 * @param {Record<string, Table | undefined>} tables tables by name; undefined: the table is removed
 * @throws {ClientError} if one of the tables is written as an inline value
 */
export function mergeToml(before, top, tables) {
  const lineEnd = before.includes('\r\n') ? '\r\n' : '\n';
  const { keptLines, comments } = splitLines(before, new Set(Object.keys(top)), Object.keys(tables));
  const firstTable = keptLines.findIndex(({ opensTable }) => opensTable);
  const tableStart = firstTable === -1 ? keptLines.length : firstTable;
  const texts = keptLines.map(({ line }) => line);
  const head = trimLines([...toLines(top, comments), ...texts.slice(0, tableStart)]);
  const rest = trimLines(texts.slice(tableStart));
  const ownTables = Object.entries(tables).flatMap(([name, values]) =>
    values === undefined ? [] : [[`[${name}]`, ...toLines(values)].join('\n')],
  );
  const parts = [head, rest, ...ownTables].filter((text) => text !== '');
  const merged = parts.length === 0 ? '' : `${parts.join('\n\n')}\n`;
  return lineEnd === '\n' ? merged : merged.replaceAll('\n', lineEnd);
}

/**
 * Returns the lines of a file without the values and tables to replace, and the comments that followed the removed values.
 * @param {string} text
 * @param {ReadonlySet<string>} top names of the top-level values to replace
 * @param {readonly string[]} tables names of the tables to replace
 */
function splitLines(text, top, tables) {
  /** @type {{ line: string, opensTable: boolean }[]} */
  const keptLines = [];
  /** @type {Record<string, string>} */
  const comments = {};
  /** @type {{ line: string, opensTable: boolean }[]} comments at the end of a replaced table, which may describe the next table */
  let lastComments = [];
  let isTableDropped = false;
  let isValueDropped = false;
  for (const { line, table, path, value, comment, continues } of parseTomlLines(text)) {
    if (table !== undefined) {
      keptLines.push(...lastComments);
      lastComments = [];
      isTableDropped = tables.includes(table);
      isValueDropped = false;
    } else if (!continues) {
      isValueDropped =
        path !== undefined && (top.has(path) || tables.some((table) => `${path}.`.startsWith(`${table}.`)));
      if (path !== undefined && !isValueDropped && tables.some((table) => table.startsWith(`${path}.`))) {
        throw new ClientError(
          `The settings file has \`${path}\` as one value, which rtr cannot change. Make it a table.`,
        );
      }
      if (path !== undefined && top.has(path) && comment !== '') comments[path] = comment;
    }
    const entry = { line, opensTable: table !== undefined };
    if (!isTableDropped && !isValueDropped) keptLines.push(entry);
    else if (value !== '') lastComments = [];
    else if (isTableDropped && (comment !== '' || lastComments.length > 0)) lastComments.push(entry);
  }
  return { keptLines: [...keptLines, ...lastComments], comments };
}

/**
 * @param {Table} table
 * @param {Record<string, string>} [comments] comments to append, by name of the value
 */
function toLines(table, comments = {}) {
  return Object.entries(table).flatMap(([name, value]) => {
    const comment = comments[name];
    if (value === undefined) return [];
    return [`${name} = ${JSON.stringify(value)}${comment === undefined ? '' : ` ${comment}`}`];
  });
}

/** @param {readonly string[]} lines */
function trimLines(lines) {
  return lines.join('\n').replace(/^\n+|\s+$/g, '');
}
