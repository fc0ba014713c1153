import { ClientError } from '../client-error.mjs';

/**
 * The address of an API of the router.
 * @param {import('../store/sign-ins.mjs').SignIn} signIn
 * @param {string} name
 */
export function addressOf({ router, apis }, name) {
  const address = apis[name];
  if (address === undefined)
    throw new ClientError(`${router} has no API for ${name}. Sign in again: rtr login ${router}`);
  return address;
}
