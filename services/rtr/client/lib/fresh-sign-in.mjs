import { RouterUnreachableError } from './ask.mjs';
import { ClientError } from './client-error.mjs';
import { accepts, OAuthAnswer, refreshTokens } from './router-api.mjs';
import { fileOf, readSignIn, updateSignIn } from './store/sign-ins.mjs';
import { withLock } from './store/with-lock.mjs';

/** Milliseconds for which a returned access token must still be valid. */
const freshMs = 120_000;

/** Signals that end a process. They are ignored between the router's answer and the moment when the new tokens are stored. */
const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Returns the sign-in with an access token that is valid for two more minutes. The router is asked whether it accepts the token, because
 * Claude Code runs this again when a token was refused. One process at a time refreshes the token. While the router is unreachable, any
 * token that has not expired is returned.
 * @param {string} [router] default: the router that was signed in to last
 * @returns {Promise<import('./store/sign-ins.mjs').SignIn>}
 */
export async function ensureFreshSignIn(router) {
  const known = readSignIn(router);
  if (lasts(known, freshMs) && (await isAccepted(known))) return known;
  const refreshed = await withoutSignals(() => withLock(fileOf(known.router, 'lock'), () => refresh(known)));
  if (refreshed) return refreshed;
  const latest = readSignIn(known.router);
  if (lasts(latest, 0)) return latest;
  throw new ClientError('Another process has been refreshing the token for too long. Try again.');
}

/** @param {import('./store/sign-ins.mjs').SignIn} before */
async function refresh({ router, refreshToken: before }) {
  const known = readSignIn(router);
  // Another process may have refreshed the token in the meantime.
  if (known.refreshToken !== before && lasts(known, freshMs)) return known;
  try {
    const { accessToken, expiresAt, refreshToken } = await refreshTokens(known.tokenEndpoint, known.refreshToken);
    const next = { ...known, accessToken, expiresAt, refreshToken };
    // A new sign-in may have replaced this one in the meantime. It has then ended this one at the router.
    return updateSignIn(next, known.refreshToken) ? next : readSignIn(router);
  } catch (error) {
    if (error instanceof RouterUnreachableError && lasts(known, 0)) return known;
    if (!(error instanceof OAuthAnswer)) throw error;
    throw new ClientError(
      error.code === 'invalid_grant'
        ? `You are signed out of ${router}. Sign in again with: rtr login ${router}`
        : `${router} does not renew the sign-in: ${error.message}`,
    );
  }
}

/** @param {import('./store/sign-ins.mjs').SignIn} signIn */
async function isAccepted({ apis: { openai }, accessToken }) {
  return openai === undefined || accepts(`${openai}/v1/models`, accessToken);
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
function lasts({ expiresAt }, ms) {
  return expiresAt - Date.now() > ms;
}

function ignore() {}
