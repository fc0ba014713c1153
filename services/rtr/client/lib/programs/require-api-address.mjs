import { normalizeAddress } from '../normalize-address.mjs';
import { ClientError } from '../client-error.mjs';

/**
 * Returns the address of an API of the router.
 * @param {import('../store/sign-ins.mjs').SignIn} signIn its addresses are checked again, because they go into settings and shells, and the
 * file of the sign-in may have been changed
 * @param {string} name
 */
export function requireApiAddress({ router, apis }, name) {
  const address = normalizeAddress(apis[name], new URL(router).origin);
  if (address === undefined)
    throw new ClientError(`${router} has no API for ${name}. Sign in again: rtr login ${router}`);
  return address;
}
