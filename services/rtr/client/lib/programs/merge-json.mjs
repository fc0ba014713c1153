import { ClientError } from '../client-error.mjs';

/**
 * Returns a JSON file with some of its values replaced and everything else unchanged.
 * @param {string} path path for the error
 * @param {string} before
 * @param {Record<string, unknown>} values objects are merged, everything else is replaced
 */
export function mergeJson(path, before, values) {
  const indent = /^(?:[ \t]+)(?=")/m.exec(before)?.[0] ?? '  ';
  return `${JSON.stringify(mergeValues(readObject(path, before), values), undefined, indent)}\n`;
}

/**
 * @param {string} path
 * @param {string} text
 * @returns {Record<string, unknown>}
 */
function readObject(path, text) {
  if (text.trim() === '') return {};
  try {
    const read = JSON.parse(text);
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read;
  } catch {
    // The parser's message is not shown, because it quotes the file.
  }
  throw new ClientError(`${path} is no JSON that rtr can change. Without --write, rtr prints what belongs into it.`);
}

/**
 * @param {Record<string, unknown>} before
 * @param {Record<string, unknown>} values
 * @returns {Record<string, unknown>}
 */
function mergeValues(before, values) {
  const result = { ...before };
  for (const [name, value] of Object.entries(values)) {
    const old = result[name];
    result[name] = isObject(value) && isObject(old) ? mergeValues(old, value) : value;
  }
  return result;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
