import { findRouter } from '../find-router.mjs';
import { ensureFreshSignIn } from '../fresh-sign-in.mjs';

/**
 * Prints only an access token.
 * @param {string | undefined} router address that the person entered
 */
export async function printToken(router) {
  const { accessToken } = await ensureFreshSignIn(findRouter(router));
  process.stdout.write(`${accessToken}\n`);
}
