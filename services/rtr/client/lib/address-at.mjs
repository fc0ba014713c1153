/**
 * An address that a router has sent, in the spelling of the URL standard: no line breaks, blanks or double quotes are left in it, which the
 * parser of URLs overlooks and a file of settings does not.
 * @param {unknown} value
 * @param {string} origin of the router
 * @returns {string | undefined} undefined for what is no address at this origin
 */
export function addressAt(value, origin) {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url?.origin !== origin || url.username !== '' || url.password !== '') return undefined;
  return url.href;
}
