/** Maximum number of characters of a model name in the settings of a program. */
const maxLength = 200;

/**
 * Returns the ids in the router's list of models that are valid model names.
 * @param {unknown} list
 * @returns {string[]}
 */
export function readModelIds(list) {
  const { data } = Object(list);
  if (!Array.isArray(data)) return [];
  return data.map((model) => Object(model).id).filter(isModelName);
}

/**
 * Whether a value from the router is safe as a model name in the settings of a program: a text of one line, not too long.
 * @param {unknown} value
 * @returns {value is string}
 */
export function isModelName(value) {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= maxLength &&
    value !== '__proto__' &&
    !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)
  );
}
