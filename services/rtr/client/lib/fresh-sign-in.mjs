import { RouterUnreachableError } from './router-request.mjs';
import { ClientError } from './client-error.mjs';
import { acceptsToken, OAuthError, refreshTokens } from './router-api.mjs';
import { toRouterFile, readSignIn, updateSignIn } from './store/sign-ins.mjs';
import { withLock } from './store/with-lock.mjs';
import { findOwnCommand } from './own-command.mjs';

/** Milliseconds for which a returned access token must still be valid. */
const freshMs = 120_000;

/** Signals that end a process. They are ignored during a refresh, so that the process always stores the new tokens. */
const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Returns the sign-in with an access token that is valid for two more minutes. Asks the router whether it accepts the stored token, because
 * Claude Code runs `rtr token` again after the router refused a token. Only one process at a time refreshes the token. While the router is
 * unreachable, the function returns any token that has not expired.
 * @param {string} [router] default: the router of the last sign-in
 * @returns {Promise<import('./store/sign-ins.mjs').SignIn>}
 */
export async function ensureFreshSignIn(router) {
  const stored = readSignIn(router);
  if (isValidFor(stored, freshMs) && (await isAccepted(stored))) return stored;
  const refreshed = await withoutSignals(() => withLock(toRouterFile(stored.router, 'lock'), () => refresh(stored)));
  if (refreshed) return refreshed;
  const latest = readSignIn(stored.router);
  if (isValidFor(latest, 0)) return latest;
  throw new ClientError('Another process has been refreshing the token for too long. Try again.');
}

/** @param {import('./store/sign-ins.mjs').SignIn} outdated */
async function refresh({ router, refreshToken: outdatedToken }) {
  const stored = readSignIn(router);
  // Another process may have refreshed the token in the meantime.
  if (stored.refreshToken !== outdatedToken && isValidFor(stored, freshMs)) return stored;
  try {
    const { accessToken, expiresAt, refreshToken } = await refreshTokens(stored.tokenEndpoint, stored.refreshToken);
    const refreshed = { ...stored, accessToken, expiresAt, refreshToken };
    // A new sign-in may have replaced this sign-in in the meantime, and has then revoked it at the router.
    return updateSignIn(refreshed, stored.refreshToken) ? refreshed : readSignIn(router);
  } catch (error) {
    if (error instanceof RouterUnreachableError && isValidFor(stored, 0)) return stored;
    if (!(error instanceof OAuthError)) throw error;
    throw new ClientError(
      error.code === 'invalid_grant'
        ? `You are signed out of ${router}. Sign in again with: ${findOwnCommand()} login ${router}`
        : `${router} does not renew the sign-in: ${error.message}`,
    );
  }
}

/** @param {import('./store/sign-ins.mjs').SignIn} signIn */
async function isAccepted({ apis: { openai }, accessToken }) {
  return openai === undefined || acceptsToken(`${openai}/v1/models`, accessToken);
}

/**
 * Runs a task to its end, ignoring signals.
 * @template T
 * @param {() => Promise<T>} task
 */
async function withoutSignals(task) {
  for (const signal of signals) process.on(signal, ignore);
  try {
    return await task();
  } finally {
    for (const signal of signals) process.off(signal, ignore);
  }
}

/**
 * @param {{ expiresAt: number }} signIn
 * @param {number} ms
 */
function isValidFor({ expiresAt }, ms) {
  return expiresAt - Date.now() > ms;
}

function ignore() {}
