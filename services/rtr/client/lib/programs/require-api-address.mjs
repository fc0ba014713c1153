import { normalizeAddress } from '../normalize-address.mjs';
import { ClientError } from '../client-error.mjs';

/**
 * Returns the address of an API of the router. Checks the stored address again, because it is written into settings and shell commands, and
 * somebody may have edited the stored sign-in.
 * @param {import('../store/sign-ins.mjs').SignIn} signIn
 * @param {string} name name of the API, such as `openai`
 * @throws {ClientError} if the router has no such API
 */
export function requireApiAddress({ router, apis }, name) {
  const address = normalizeAddress(apis[name], new URL(router).origin);
  if (address === undefined)
    throw new ClientError(`${router} has no API for ${name}. Sign in again: rtr login ${router}`);
  return address;
}
