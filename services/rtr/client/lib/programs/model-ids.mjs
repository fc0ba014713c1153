/** Maximum number of characters of a model's name in the settings of a program. */
const maxLength = 200;

/**
 * Returns the ids in the router's list of models that are valid names of models.
 * @param {unknown} list
 * @returns {string[]}
 */
export function readModelIds(list) {
  const { data } = Object(list);
  if (!Array.isArray(data)) return [];
  return data.map((model) => Object(model).id).filter(isModelName);
}

/**
 * Whether a value from the router may stand in the settings of a program. Only a short text of one line may.
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
