/**
 * Normalizes a URL that a router sent: returns the form that the URL standard serializes, which has no line breaks, spaces or double
 * quotes. A URL parser accepts these characters, but in a settings file they could end a value.
 * @param {unknown} value
 * @param {string} origin origin of the router
 * @returns {string | undefined} undefined for a value that is not an address at this origin
 */
export function normalizeAddress(value, origin) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.origin !== origin || url.username !== '' || url.password !== '') return undefined;
  return url.href;
}
