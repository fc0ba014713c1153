import { normalizeAddress } from './normalize-address.mjs';
import { request, parseAnswer, RouterUnreachableError } from './router-request.mjs';
import { ClientError } from './client-error.mjs';
import { toPrintable } from './to-printable.mjs';
import { send } from './send.mjs';

const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * The answer to a successful request for tokens.
 * @typedef {object} SignInTokens
 * @property {string} accessToken
 * @property {number} expiresAt ms since 1970
 * @property {string} refreshToken
 * @property {string | undefined} email
 */

/** Thrown when the router answers with an OAuth error, such as `access_denied`. */
export class OAuthError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/**
 * Begins a sign-in (RFC 8628).
 * @param {import('./discover.mjs').Endpoints} endpoints
 * @param {string} name name of this program on the page where the person approves the sign-in
 */
export async function beginSignIn({ device }, name) {
  const answer = await postForm(device, { client_id: name });
  const { device_code: deviceCode, user_code: userCode, verification_uri: page, ...others } = answer;
  if (typeof deviceCode !== 'string' || typeof userCode !== 'string' || typeof page !== 'string') {
    throw new ClientError('The router did not send a sign-in code.');
  }
  const { verification_uri_complete: pageWithCode, expires_in: seconds, interval } = others;
  const { origin } = new URL(device);
  const ownPage = normalizeAddress(page, origin);
  if (ownPage === undefined) {
    throw new ClientError(`The sign-in page of ${origin} is at another address, so rtr does not open it.`);
  }
  return {
    deviceCode,
    userCode: toPrintable(userCode),
    page: ownPage,
    /** URL of the page that already contains the code. */
    completePage: normalizeAddress(pageWithCode, origin) ?? ownPage,
    expiresMs: Math.min(Number(seconds) || 600, 3_600) * 1_000,
    intervalMs: Math.max(Number(interval) || 5, 1) * 1_000,
  };
}

/**
 * Requests the tokens of a sign-in.
 * @param {import('./discover.mjs').Endpoints} endpoints
 * @param {{ name: string, deviceCode: string }} begun the name given to `beginSignIn`, and the code that it returned
 * @returns {Promise<SignInTokens>}
 * @throws {OAuthError} `authorization_pending` until the person has approved the sign-in
 */
export async function requestTokens({ token }, { name, deviceCode }) {
  return readTokens(await postForm(token, { grant_type: deviceGrantType, device_code: deviceCode, client_id: name }));
}

/**
 * @param {string} tokenEndpoint
 * @param {string} refreshToken
 * @returns {Promise<SignInTokens>}
 */
export async function refreshTokens(tokenEndpoint, refreshToken) {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return readTokens(await postForm(tokenEndpoint, fields, refreshMs));
}

/**
 * @param {string} revocationEndpoint
 * @param {string} refreshToken
 */
export async function revoke(revocationEndpoint, refreshToken) {
  await postForm(revocationEndpoint, { token: refreshToken, token_type_hint: 'refresh_token' });
}

/** Maximum milliseconds for the check whether a token is accepted. */
const checkMs = 1_500;

/**
 * Maximum milliseconds for a refresh. A refresh, the check and the wait for another process take less than ten seconds together, which is
 * Claude Code's limit for getting a token.
 */
const refreshMs = 3_500;

/**
 * Whether the router accepts an access token. Also true if the router cannot be reached.
 * @param {string} url a URL of the router that requires a token
 * @param {string} accessToken
 */
export async function acceptsToken(url, accessToken) {
  const headers = { authorization: `Bearer ${accessToken}` };
  try {
    const { status } = await send(url, { headers, headOnly: true, timeoutMs: checkMs });
    return status !== 401;
  } catch {
    return true;
  }
}

/**
 * Fetches JSON from a URL of the router that requires a token. Returns undefined if the status is not 200.
 * @param {string} url
 * @param {string} accessToken
 * @returns {Promise<unknown>}
 */
export async function getJson(url, accessToken) {
  const { status, text } = await request(url, { headers: { authorization: `Bearer ${accessToken}` } });
  return status === 200 ? parseAnswer(text, url) : undefined;
}

/**
 * @param {string} url
 * @param {Record<string, string>} fields
 * @param {number} [timeoutMs]
 * @returns {Promise<Record<string, unknown>>}
 */
async function postForm(url, fields, timeoutMs) {
  const form = new URLSearchParams(fields).toString();
  const { status, text } = await request(url, { form, ...(timeoutMs !== undefined && { timeoutMs }) });
  const body = text === '' ? {} : parseAnswer(text, url);
  if (status === 200) return body;
  const { error, error_description: description } = body;
  if (status >= 500 || typeof error !== 'string') {
    throw new RouterUnreachableError(`${new URL(url).origin} cannot answer now (status ${status}). Try again soon.`);
  }
  throw new OAuthError(error, toPrintable(typeof description === 'string' ? description : error));
}

/**
 * @param {Record<string, unknown>} answer
 * @returns {SignInTokens}
 */
function readTokens({ access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, email }) {
  if (!isToken(accessToken) || !isToken(refreshToken) || typeof seconds !== 'number') {
    throw new ClientError('The router did not send tokens.');
  }
  const expiresAt = Date.now() + seconds * 1_000;
  return { accessToken, refreshToken, expiresAt, email: typeof email === 'string' ? toPrintable(email) : undefined };
}

/**
 * Whether a value can be a token. A token is printed and sent in a header, so only visible ASCII characters are allowed.
 * @param {unknown} value
 * @returns {value is string}
 */
function isToken(value) {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value);
}
