import { RouterUnreachableError } from '../ask.mjs';
import { findRouter } from '../find-router.mjs';
import { OAuthError, revoke } from '../router-api.mjs';
import { fileOf, deleteSignIn, readSignIn } from '../store/sign-ins.mjs';
import { withLock } from '../store/with-lock.mjs';

/**
 * Signs out at the router if it can be reached, and in any case on this machine.
 * @param {string | undefined} entered
 * @returns {Promise<number>} 1 when the router could not be reached
 */
export async function logout(entered) {
  const { router, revocationEndpoint, refreshToken } = readSignIn(findRouter(entered));
  let reason;
  try {
    if (revocationEndpoint !== undefined) await revoke(revocationEndpoint, refreshToken);
  } catch (error) {
    if (!(error instanceof RouterUnreachableError) && !(error instanceof OAuthError)) throw error;
    reason = error.message;
  }
  const forget = async () => deleteSignIn(router);
  // The lock is waited for, because another process may be storing new tokens.
  const isDone = await withLock(fileOf(router, 'lock'), async () => {
    await forget();
    return true;
  });
  if (!isDone) await forget();
  if (reason === undefined) {
    process.stdout.write(`You are signed out of ${router}.\n`);
    return 0;
  }
  process.stderr.write(`Your tokens are deleted here, but the router was not told. ${reason}\n`);
  process.stderr.write('Sign this program out in the console, under Account.\n');
  return 1;
}
