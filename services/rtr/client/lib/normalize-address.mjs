import { ClientError } from './client-error.mjs';
import { findOwnCommand } from './own-command.mjs';

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

/**
 * Returns the address of an API of the router. Checks the stored address again, because it is written into settings and shell commands, and
 * somebody may have edited the stored sign-in.
 * @param {import('./store/sign-ins.mjs').SignIn} signIn
 * @param {string} name name of the API, such as `openai`
 * @throws {ClientError} if the router has no such API
 */
export function requireApiAddress({ router, apis }, name) {
  const address = normalizeAddress(apis[name], new URL(router).origin);
  if (address === undefined)
    throw new ClientError(`${router} has no API for ${name}. Sign in again: ${findOwnCommand()} login ${router}`);
  return address;
}
