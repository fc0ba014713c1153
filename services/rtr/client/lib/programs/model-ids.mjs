/**
 * The ids of a list of models, as the router answers it.
 * @param {unknown} list
 * @returns {string[]}
 */
export function modelIds(list) {
  return Array.from(Object(list).data ?? [], ({ id }) => String(id));
}
