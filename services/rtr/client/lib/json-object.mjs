/**
 * Parses a text as a JSON object.
 * @param {string} text
 * @returns {Record<string, unknown>} empty for a text that is not JSON
 */
export function parseObject(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * Returns whether a JSON value is an object.
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
