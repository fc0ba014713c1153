import { ClientError } from '../client-error.mjs';

/**
 * A sign-in to a router.
 * @typedef {object} SignIn
 * @property {string} router its address
 * @property {string} tokenEndpoint
 * @property {string | undefined} revocationEndpoint
 * @property {Record<string, string>} apis addresses by name
 * @property {string} accessToken
 * @property {number} expiresAt of the access token, ms since 1970
 * @property {string} refreshToken
 */

/**
 * Which routers this person is signed in to, and where the tokens are. No secret.
 * @typedef {{ default?: string, routers: Record<string, { store: 'keyring' | 'file' }> }} Index
 */

/** What the client has kept cannot be read: a full disk or somebody's editor has left a part of it. */
export class DamagedError extends ClientError {
  /**
   * @param {string} what
   * @param {string} router its address
   */
  constructor(what, router) {
    super(`${what} is damaged. Sign in again, which replaces it: rtr login ${router}`);
  }
}

/**
 * @param {string} text
 * @returns {SignIn | undefined} undefined for what is damaged
 */
export function signInOf(text) {
  const value = parsed(text);
  return isSignIn(value) ? value : undefined;
}

/**
 * @param {string} text
 * @returns {Index | undefined} undefined for what is damaged
 */
export function indexOf(text) {
  const value = parsed(text);
  return isIndex(value) ? value : undefined;
}

/**
 * @param {Record<string, unknown>} value
 * @returns {value is SignIn}
 */
function isSignIn(value) {
  const texts = ['router', 'tokenEndpoint', 'accessToken', 'refreshToken'];
  return (
    texts.every((name) => typeof value[name] === 'string') &&
    typeof value['expiresAt'] === 'number' &&
    ['string', 'undefined'].includes(typeof value['revocationEndpoint']) &&
    isObject(value['apis'])
  );
}

/**
 * @param {unknown} value
 * @returns {value is Index}
 */
function isIndex(value) {
  const { default: router, routers } = Object(value);
  return (
    ['string', 'undefined'].includes(typeof router) &&
    isObject(routers) &&
    Object.values(routers).every((place) => isObject(place) && ['keyring', 'file'].includes(String(place['store'])))
  );
}

/**
 * @param {string} text
 * @returns {Record<string, unknown>} without anything for what is no JSON
 */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
