import { ClientError } from '../client-error.mjs';
import { findOwnCommand } from '../own-command.mjs';
import { isObject, parseObject } from '../json-object.mjs';

/**
 * A sign-in to a router.
 * @typedef {object} SignIn
 * @property {string} router its address
 * @property {string} tokenEndpoint
 * @property {string | undefined} revocationEndpoint
 * @property {Record<string, string>} apis addresses by name
 * @property {string} accessToken
 * @property {number} expiresAt when the access token expires, ms since 1970
 * @property {string} refreshToken
 */

/**
 * The routers to which this person is signed in, and where the tokens of each are stored. Contains no secret.
 * @typedef {{ default?: string, routers: Record<string, { store: 'keyring' | 'file' }> }} Index
 */

/** Thrown when stored content is damaged, for instance because a full disk or an editor has cut it off. */
export class DamagedError extends ClientError {
  /**
   * @param {string} content name of the damaged content, for the message
   * @param {string} router its address
   */
  constructor(content, router) {
    super(`${content} is damaged. Replace it by signing in again: ${findOwnCommand()} login ${router}`);
  }
}

/**
 * @param {string} text
 * @returns {SignIn | undefined} undefined for damaged content
 */
export function parseSignIn(text) {
  const value = parseObject(text);
  return isSignIn(value) ? value : undefined;
}

/**
 * @param {string} text
 * @returns {Index | undefined} undefined for damaged content
 */
export function parseIndex(text) {
  const value = parseObject(text);
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
    Object.values(routers).every((entry) => isObject(entry) && ['keyring', 'file'].includes(String(entry['store'])))
  );
}
