/**
 * Returns a URL from a router in the spelling of the URL standard. This spelling has no line breaks, blanks or double quotes. A parser of
 * URLs ignores these characters, but a settings file does not.
 * @param {unknown} value
 * @param {string} origin origin of the router
 * @returns {string | undefined} undefined for a value that is not an address at this origin
 */
export function normalizeAddress(value, origin) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.origin !== origin || url.username !== '' || url.password !== '') return undefined;
  return url.href;
}
