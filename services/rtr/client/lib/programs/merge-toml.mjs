import { ClientError } from '../client-error.mjs';
import { parseTomlLines } from './toml-lines.mjs';

/** @typedef {Record<string, string | number | readonly string[]>} Table */

/**
 * Returns a TOML file in which some values at the top and some tables are replaced. Every other line is unchanged. Comments stay, except
 * those between the values of a replaced table.
 * @param {string} before
 * @param {Table} top values that stand before all tables
 * @param {Record<string, Table>} tables tables by name
 * @throws {ClientError} for a file that has one of the tables inside another value
 */
export function mergeToml(before, top, tables) {
  const end = before.includes('\r\n') ? '\r\n' : '\n';
  const { kept, comments } = splitLines(before, new Set(Object.keys(top)), Object.keys(tables));
  const firstTable = kept.findIndex(({ opens }) => opens);
  const at = firstTable === -1 ? kept.length : firstTable;
  const texts = kept.map(({ line }) => line);
  const head = trimLines([...toLines(top, comments), ...texts.slice(0, at)]);
  const rest = trimLines(texts.slice(at));
  const ownTables = Object.entries(tables).map(([name, values]) => [`[${name}]`, ...toLines(values)].join('\n'));
  const whole = `${[head, rest, ...ownTables].filter((text) => text !== '').join('\n\n')}\n`;
  return end === '\n' ? whole : whole.replaceAll('\n', end);
}

/**
 * Returns the lines of a file without the values and tables to replace, and the comments that stood after those values.
 * @param {string} text
 * @param {ReadonlySet<string>} top
 * @param {readonly string[]} tables
 */
function splitLines(text, top, tables) {
  /** @type {{ line: string, opens: boolean }[]} */
  const kept = [];
  /** @type {Record<string, string>} */
  const comments = {};
  /** @type {{ line: string, opens: boolean }[]} comments at the end of a replaced table, which may be about the table after it */
  let lastComments = [];
  let isTableDropped = false;
  let isValueDropped = false;
  for (const { line, table, path, value, comment, continues } of parseTomlLines(text)) {
    if (table !== undefined) {
      kept.push(...lastComments);
      lastComments = [];
      isTableDropped = tables.includes(table);
      isValueDropped = false;
    } else if (!continues) {
      isValueDropped =
        path !== undefined && (top.has(path) || tables.some((each) => `${path}.`.startsWith(`${each}.`)));
      if (path !== undefined && !isValueDropped && tables.some((each) => each.startsWith(`${path}.`))) {
        throw new ClientError(
          `The settings file has \`${path}\` as one value, which rtr cannot change. Make it a table.`,
        );
      }
      if (path !== undefined && top.has(path) && comment !== '') comments[path] = comment;
    }
    const each = { line, opens: table !== undefined };
    if (!isTableDropped && !isValueDropped) kept.push(each);
    else if (value !== '') lastComments = [];
    else if (isTableDropped && (comment !== '' || lastComments.length > 0)) lastComments.push(each);
  }
  return { kept: [...kept, ...lastComments], comments };
}

/**
 * @param {Table} table
 * @param {Record<string, string>} [comments] by name
 */
function toLines(table, comments = {}) {
  return Object.entries(table).map(([name, value]) => {
    const comment = comments[name];
    return `${name} = ${JSON.stringify(value)}${comment === undefined ? '' : ` ${comment}`}`;
  });
}

/** @param {readonly string[]} lines */
function trimLines(lines) {
  return lines.join('\n').replace(/^\n+|\s+$/g, '');
}
