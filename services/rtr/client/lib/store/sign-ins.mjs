import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../client-error.mjs';
import { findOwnCommand } from '../own-command.mjs';
import { ensureConfigFolder } from './config-folder.mjs';
import { findKeyring } from './keyring.mjs';
import { DamagedError, parseIndex, parseSignIn } from './parse-stored.mjs';
import { replaceFile } from './replace-file.mjs';

/** @typedef {import('./parse-stored.mjs').SignIn} SignIn */

/** @typedef {import('./parse-stored.mjs').Index} Index */

/**
 * Stores a sign-in in the keyring of the system, or in a file that only this person can read if the keyring cannot be used. Replaces a
 * damaged index.
 * @param {SignIn} signIn
 * @returns {'keyring' | 'file'} where it is stored
 */
export function storeSignIn(signIn) {
  const { router } = signIn;
  const text = JSON.stringify(signIn);
  const keyring = findKeyring();
  const store = keyring?.write(router, text) === true ? 'keyring' : 'file';
  if (store === 'keyring') rmSync(tokenFile(router), { force: true });
  else {
    replaceFile(tokenFile(router), text, 0o600);
    keyring?.remove(router);
  }
  const { routers } = findIndex() ?? { routers: {} };
  writeIndex({ default: router, routers: { ...routers, [router]: { store } } });
  return store;
}

/**
 * Replaces the stored tokens of a sign-in with refreshed tokens. Does not replace the tokens of another sign-in, and does not store a
 * sign-in that has ended. Tokens that cannot be read, because the keyring is locked or the file is damaged, count as the used-up tokens.
 * @param {SignIn} signIn
 * @param {string} usedUp the refresh token that was exchanged for the new tokens
 * @returns {boolean} whether the stored tokens were replaced
 */
export function updateSignIn(signIn, usedUp) {
  const { router } = signIn;
  const index = readIndex();
  const entry = index.routers[router];
  // The person has signed out in the meantime.
  if (entry === undefined) return false;
  const stored = readTokens(router, entry);
  if (stored === undefined && entry.store === 'file') return false;
  const storedSignIn = stored === undefined ? undefined : parseSignIn(stored);
  if (storedSignIn !== undefined && storedSignIn.refreshToken !== usedUp) return false;
  const text = JSON.stringify(signIn);
  if (entry.store === 'keyring' && findKeyring()?.write(router, text) === true) return true;
  // If the keyring is locked now, the new tokens go to the file, because the tokens in the keyring are used up.
  replaceFile(tokenFile(router), text, 0o600);
  if (entry.store === 'keyring') writeIndex({ ...index, routers: { ...index.routers, [router]: { store: 'file' } } });
  return true;
}

/**
 * Returns the sign-in to a router.
 * @param {string} [router] default: the router of the last sign-in
 * @returns {SignIn}
 * @throws {ClientError} if there is no sign-in, or the stored sign-in is damaged
 */
export function readSignIn(router) {
  const index = readIndex();
  const wantedRouter = router ?? index.default;
  if (wantedRouter === undefined)
    throw new ClientError(`You are not signed in. Sign in with: ${findOwnCommand()} login <address of the router>`);
  const entry = index.routers[wantedRouter];
  const text = entry && readTokens(wantedRouter, entry);
  if (text !== undefined) {
    const signIn = parseSignIn(text);
    if (signIn) return signIn;
    const damagedContent =
      entry?.store === 'keyring' ? `The keyring entry for ${wantedRouter}` : tokenFile(wantedRouter);
    throw new DamagedError(damagedContent, wantedRouter);
  }
  throw new ClientError(
    entry?.store === 'keyring'
      ? `The keyring does not return the tokens for ${wantedRouter}. Unlock it, or sign in again with: ${findOwnCommand()} login ${wantedRouter}`
      : `You are not signed in to ${wantedRouter}. Sign in with: ${findOwnCommand()} login ${wantedRouter}`,
  );
}

/**
 * Returns the sign-in to a router; undefined if there is none, or the stored sign-in is damaged.
 * @param {string} router
 * @returns {SignIn | undefined}
 */
export function findSignIn(router) {
  try {
    return readSignIn(router);
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}

/** Returns the addresses of the routers to which this person is signed in. */
export function listRouters() {
  return Object.keys(readIndex().routers);
}

/** @param {string} router */
export function deleteSignIn(router) {
  const index = readIndex();
  // The keyring may still contain old tokens, if it was locked when new tokens were stored in the file.
  findKeyring()?.remove(router);
  rmSync(tokenFile(router), { force: true });
  const { [router]: _, ...routers } = index.routers;
  const [nextRouter] = Object.keys(routers);
  const next = index.default === router ? nextRouter : index.default;
  writeIndex({ ...(next !== undefined && { default: next }), routers });
}

/**
 * Returns the path of a file for one router.
 * @param {string} router
 * @param {string} kind end of the file name, such as `lock`
 */
export function toRouterFile(router, kind) {
  const name = createHash('sha256').update(router).digest('hex').slice(0, 16);
  return join(ensureConfigFolder(), `${name}.${kind}`);
}

/**
 * @param {string} router
 * @param {Index['routers'][string]} entry
 */
function readTokens(router, { store }) {
  return store === 'keyring' ? findKeyring()?.read(router) : readText(tokenFile(router));
}

/** @param {string} router */
function tokenFile(router) {
  return toRouterFile(router, 'tokens.json');
}

function indexFile() {
  return join(ensureConfigFolder(), 'routers.json');
}

/**
 * @returns {Index}
 * @throws {DamagedError}
 */
function readIndex() {
  const index = findIndex();
  if (!index) throw new DamagedError(indexFile(), '<address of the router>');
  return index;
}

/** Returns the index: empty if none was stored yet, undefined if it is damaged. */
function findIndex() {
  const text = readText(indexFile());
  return text === undefined ? { routers: {} } : parseIndex(text);
}

/** @param {Index} index */
function writeIndex(index) {
  replaceFile(indexFile(), `${JSON.stringify(index, undefined, 2)}\n`, 0o600);
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
