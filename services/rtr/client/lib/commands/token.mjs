import { findRouter } from '../find-router.mjs';
import { ensureFreshSignIn } from '../fresh-sign-in.mjs';

/**
 * Prints an access token, and nothing else.
 * @param {string | undefined} router
 */
export async function printToken(router) {
  const { accessToken } = await ensureFreshSignIn(findRouter(router));
  process.stdout.write(`${accessToken}\n`);
}
