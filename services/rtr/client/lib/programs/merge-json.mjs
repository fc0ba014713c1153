import { ClientError } from '../client-error.mjs';
import { isObject } from '../json-object.mjs';

/**
 * Returns the text of a JSON file with some values replaced and all other values unchanged.
 * @param {string} path path of the file, for the error
 * @param {string} before text of the file
 * @param {Record<string, unknown>} values objects are merged into the file's objects, other values replace the file's values, and undefined
 * removes a value
 * @throws {ClientError} for a text that is not a JSON object
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
    const value = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The parser's message is not shown, because it quotes the file.
  }
  throw new ClientError(
    `${path} is not a JSON object, so rtr cannot change it. Without --write, rtr prints the settings.`,
  );
}

/**
 * @param {Record<string, unknown>} before
 * @param {Record<string, unknown>} values
 * @returns {Record<string, unknown>}
 */
function mergeValues(before, values) {
  const result = { ...before };
  for (const [name, value] of Object.entries(values)) {
    const current = result[name];
    result[name] = isObject(value) && isObject(current) ? mergeValues(current, value) : value;
  }
  return result;
}
