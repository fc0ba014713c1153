import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ClientError } from '../client-error.mjs';
import { RouterUnreachableError } from '../router-request.mjs';
import { discover } from '../discover.mjs';
import { openBrowser } from '../open-browser.mjs';
import { findOwnCommand } from '../own-command.mjs';
import { beginSignIn, requestTokens, OAuthError, revoke } from '../router-api.mjs';
import { toRouterAddress } from '../router-address.mjs';
import { toRouterFile, findSignIn, storeSignIn } from '../store/sign-ins.mjs';
import { withLock } from '../store/with-lock.mjs';

/** Milliseconds by which each `slow_down` lengthens the wait between polls (RFC 8628, section 3.5). */
const slowDownMs = 5_000;

/** Maximum milliseconds between two polls while the router is unreachable (RFC 8628, section 3.5). */
const maxWaitMs = 30_000;

/**
 * Signs in to a router: shows a code, waits until the person approves it, and stores the tokens.
 * @param {string} entered address that the person entered
 * @param {{ opensBrowser: boolean }} options
 */
export async function login(entered, { opensBrowser }) {
  const endpoints = await discover(toRouterAddress(entered));
  const name = `rtr on ${hostname()}`;
  const begun = { name, ...(await beginSignIn(endpoints, name).catch(throwExplained)) };
  say(`Open this page and compare the code:\n\n  ${begun.completePage}\n\n  ${begun.userCode}\n`);
  if (opensBrowser) openBrowser(begun.completePage);
  const { email, ...tokens } = await waitForApproval(endpoints, begun);
  const { router, token: tokenEndpoint, revocation: revocationEndpoint, apis } = endpoints;
  const signIn = { router, tokenEndpoint, revocationEndpoint, apis, ...tokens };
  const store = await replaceSignIn(signIn);
  const place = store === 'keyring' ? 'in the keyring of this system' : 'in a file that only you can read';
  say(`You are signed in to ${router}${email === undefined ? '' : ` as ${email}`}. The tokens are ${place}.`);
  const rtr = findOwnCommand();
  say(`Next: ${['claude', 'codex', 'opencode'].map((name) => `${rtr} env ${name}`).join(', ')} or ${rtr} env openai`);
}

/**
 * Stores a sign-in. Replaces an earlier sign-in to the same router and revokes it at the router.
 * @param {import('../store/sign-ins.mjs').SignIn} signIn
 * @returns where the sign-in is stored
 */
async function replaceSignIn(signIn) {
  const { router, revocationEndpoint } = signIn;
  const earlier = findSignIn(router);
  const storeNew = async () => storeSignIn(signIn);
  const store = (await withLock(toRouterFile(router, 'lock'), storeNew)) ?? (await storeNew());
  if (earlier && revocationEndpoint !== undefined) {
    // If the router does not answer now, the console still lists the earlier sign-in.
    await revoke(revocationEndpoint, earlier.refreshToken).catch(() => {});
  }
  return store;
}

/**
 * @param {import('../discover.mjs').Endpoints} endpoints
 * @param {{ name: string } & Awaited<ReturnType<typeof beginSignIn>>} begun the result of `beginSignIn`, and the name given to it
 */
async function waitForApproval(endpoints, { name, deviceCode, expiresMs, intervalMs }) {
  const deadline = performance.now() + expiresMs;
  let waitMs = intervalMs;
  while (performance.now() < deadline) {
    await pause(waitMs);
    try {
      return await requestTokens(endpoints, { name, deviceCode });
    } catch (error) {
      // The router may be restarting.
      if (error instanceof RouterUnreachableError) {
        waitMs = Math.min(waitMs * 2, maxWaitMs);
        continue;
      }
      if (!(error instanceof OAuthError)) throw error;
      if (error.code === 'slow_down') waitMs += slowDownMs;
      else if (error.code !== 'authorization_pending') throwExplained(error);
    }
  }
  throw new ClientError('Nobody approved the sign-in in time. Start it again.');
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function throwExplained(error) {
  if (!(error instanceof OAuthError)) throw error;
  if (error.code === 'access_denied') throw new ClientError('The sign-in was denied.');
  if (error.code === 'expired_token') throw new ClientError('Nobody approved the sign-in in time. Start it again.');
  throw new ClientError(`The router does not sign you in: ${error.message}`);
}

/** @param {string} text */
function say(text) {
  process.stdout.write(`${text}\n`);
}
