import { RouterUnreachableError } from '../router-request.mjs';
import { findRouter } from '../find-router.mjs';
import { OAuthError, revoke } from '../router-api.mjs';
import { toRouterFile, deleteSignIn, readSignIn } from '../store/sign-ins.mjs';
import { withLock } from '../store/with-lock.mjs';

/**
 * Revokes the sign-in at the router if the router can be reached. Always deletes the sign-in from this machine.
 * @param {string | undefined} entered address that the person entered
 * @returns {Promise<number>} exit code: 1 if the sign-in could not be revoked at the router
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
  const deleteStored = async () => deleteSignIn(router);
  // Another process may be storing new tokens, so deletion waits for the lock.
  const isDone = await withLock(toRouterFile(router, 'lock'), async () => {
    await deleteStored();
    return true;
  });
  if (!isDone) await deleteStored();
  if (reason === undefined) {
    process.stdout.write(`You are signed out of ${router}.\n`);
    return 0;
  }
  process.stderr.write(`Your tokens are deleted here, but they are not revoked at the router. ${reason}\n`);
  process.stderr.write('Sign this program out in the console, under Account.\n');
  return 1;
}
