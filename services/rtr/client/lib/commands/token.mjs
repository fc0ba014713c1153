import { chosenRouter } from '../chosen-router.mjs';
import { freshSignIn } from '../fresh-sign-in.mjs';

/**
 * Prints an access token, and nothing else.
 * @param {string | undefined} router
 */
export async function printToken(router) {
  const { accessToken } = await freshSignIn(chosenRouter(router));
  process.stdout.write(`${accessToken}\n`);
}
