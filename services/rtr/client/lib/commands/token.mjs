import { freshSignIn } from '../fresh-sign-in.mjs';
import { routerAddress } from '../router-address.mjs';

/**
 * Prints an access token, and nothing else.
 * @param {string | undefined} router
 */
export async function printToken(router) {
  const { accessToken } = await freshSignIn(router === undefined ? undefined : routerAddress(router));
  process.stdout.write(`${accessToken}\n`);
}
