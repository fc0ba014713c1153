import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ClientError } from '../client-error.mjs';
import { configFolder } from './config-folder.mjs';
import { findKeyring } from './keyring.mjs';
import { DamagedError, parseIndex, parseSignIn } from './parse-stored.mjs';
import { replaceFile } from './replace-file.mjs';

/** @typedef {import('./parse-stored.mjs').SignIn} SignIn */

/** @typedef {import('./parse-stored.mjs').Index} Index */

/**
 * Stores a sign-in in the keyring of the system or, if that cannot be used, in a file that only this person can read. Replaces a damaged
 * index.
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
 * Replaces the stored tokens of a sign-in by refreshed ones. Does not replace the tokens of another sign-in, and does not store a sign-in
 * that has ended. If the stored tokens cannot be read, because the keyring is locked or the file is damaged, they count as the used-up
 * ones.
 * @param {SignIn} signIn
 * @param {string} usedUp the refresh token that was exchanged for the new tokens
 * @returns {boolean} whether the stored tokens were replaced
 */
export function updateSignIn(signIn, usedUp) {
  const { router } = signIn;
  const index = readIndex();
  const place = index.routers[router];
  // The person has signed out in the meantime.
  if (place === undefined) return false;
  const stored = readTokens(router, place);
  if (stored === undefined && place.store === 'file') return false;
  const storedSignIn = stored === undefined ? undefined : parseSignIn(stored);
  if (storedSignIn !== undefined && storedSignIn.refreshToken !== usedUp) return false;
  const text = JSON.stringify(signIn);
  if (place.store === 'keyring' && findKeyring()?.write(router, text) === true) return true;
  // Tokens also move to the file if the keyring is locked now, because the tokens in it are used up.
  replaceFile(tokenFile(router), text, 0o600);
  if (place.store === 'keyring') writeIndex({ ...index, routers: { ...index.routers, [router]: { store: 'file' } } });
  return true;
}

/**
 * Returns the sign-in to a router, by default to the router that was signed in to last.
 * @param {string} [router]
 * @returns {SignIn}
 * @throws {ClientError} if there is no sign-in, or if it is damaged
 */
export function readSignIn(router) {
  const index = readIndex();
  const wanted = router ?? index.default;
  if (wanted === undefined)
    throw new ClientError('You are not signed in. Sign in with: rtr login <address of the router>');
  const place = index.routers[wanted];
  const text = place && readTokens(wanted, place);
  if (text !== undefined) {
    const signIn = parseSignIn(text);
    if (signIn) return signIn;
    const what = place?.store === 'keyring' ? `What the keyring has for ${wanted}` : tokenFile(wanted);
    throw new DamagedError(what, wanted);
  }
  throw new ClientError(
    place?.store === 'keyring'
      ? `The keyring does not give out the tokens for ${wanted}. Unlock it, or sign in again with: rtr login ${wanted}`
      : `You are not signed in to ${wanted}. Sign in with: rtr login ${wanted}`,
  );
}

/**
 * Returns the sign-in to a router; undefined if there is no sign-in, or if it is damaged.
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
  // The keyring may have been locked when the tokens moved to the file, so it may still contain old tokens.
  findKeyring()?.remove(router);
  rmSync(tokenFile(router), { force: true });
  const { [router]: _, ...routers } = index.routers;
  const [other] = Object.keys(routers);
  const next = index.default === router ? other : index.default;
  writeIndex({ ...(next !== undefined && { default: next }), routers });
}

/**
 * Returns the path of a file of one router.
 * @param {string} router
 * @param {string} kind
 */
export function fileOf(router, kind) {
  const name = createHash('sha256').update(router).digest('hex').slice(0, 16);
  return join(configFolder(), `${name}.${kind}`);
}

/**
 * @param {string} router
 * @param {Index['routers'][string]} place
 */
function readTokens(router, { store }) {
  return store === 'keyring' ? findKeyring()?.read(router) : readText(tokenFile(router));
}

/** @param {string} router */
function tokenFile(router) {
  return fileOf(router, 'tokens.json');
}

function indexFile() {
  return join(configFolder(), 'routers.json');
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

/** Returns the index. It is empty if it was never stored, and undefined if it is damaged. */
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
