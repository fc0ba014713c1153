import { ClientError } from './client-error.mjs';
import { send } from './send.mjs';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Where a router signs programs in, and where its APIs are.
 * @typedef {object} Endpoints
 * @property {string} device
 * @property {string} token
 * @property {string | undefined} revocation
 * @property {Record<string, string>} apis addresses by name: `openai`, `anthropic`
 */

/**
 * The answer to a request for tokens that was granted.
 * @typedef {object} Grant
 * @property {string} accessToken
 * @property {number} expiresAt ms since 1970
 * @property {string} refreshToken
 * @property {string | undefined} email
 */

/** An error that an endpoint answers: `{ error, error_description }`. */
export class OAuthAnswer extends Error {
  /**
   * @param {string} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The router could not be asked, or gave no answer that means anything. */
export class RouterAwayError extends ClientError {}

/**
 * Finds the endpoints of a router (RFC 8414).
 * @param {string} router
 * @returns {Promise<Endpoints>}
 */
export async function discover(router) {
  const answer = await ask(`${router}/.well-known/oauth-authorization-server`);
  const found = parse(answer.text, router);
  const { origin } = new URL(router);
  /** @param {string} name */
  const endpoint = (name) => {
    const value = found[name];
    if (typeof value !== 'string') return undefined;
    if (originOf(value) !== origin) {
      const named = originOf(value) ?? 'the address that its operator names';
      throw new ClientError(`${router} says that its address is another one. If that is right: rtr login ${named}`);
    }
    return value;
  };
  // RFC 8414, section 3.3.
  endpoint('issuer');
  const device = endpoint('device_authorization_endpoint');
  const token = endpoint('token_endpoint');
  if (answer.status !== 200 || device === undefined || token === undefined) {
    throw new ClientError(`${router} is no Model Router, or one of a release that programs cannot sign in to.`);
  }
  const apis = Object.entries(Object(found['model_router_apis'])).filter(([, url]) => originOf(String(url)) === origin);
  return { device, token, revocation: endpoint('revocation_endpoint'), apis: Object.fromEntries(apis) };
}

/** @param {string} url */
function originOf(url) {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/**
 * Begins a sign-in (RFC 8628).
 * @param {Endpoints} endpoints
 * @param {string} name what the page calls this program
 */
export async function beginDevice({ device }, name) {
  const answer = await postForm(device, { client_id: name });
  const { device_code: deviceCode, user_code: userCode, verification_uri: page, ...others } = answer;
  if (typeof deviceCode !== 'string' || typeof userCode !== 'string' || typeof page !== 'string') {
    throw new ClientError('The router answered with something else than a code.');
  }
  const { verification_uri_complete: whole, expires_in: seconds, interval } = others;
  return {
    deviceCode,
    userCode: printable(userCode),
    page: printable(page),
    /** With the code in it. */
    completePage: printable(typeof whole === 'string' ? whole : page),
    expiresMs: Math.min(Number(seconds) || 600, 3_600) * 1_000,
    intervalMs: Math.max(Number(interval) || 5, 1) * 1_000,
  };
}

/**
 * @param {Endpoints} endpoints
 * @param {{ name: string, deviceCode: string }} begun `name`: as at the beginning
 * @returns {Promise<Grant>}
 */
export async function claimDevice({ token }, { name, deviceCode }) {
  return readGrant(await postForm(token, { grant_type: deviceGrant, device_code: deviceCode, client_id: name }));
}

/**
 * @param {string} tokenEndpoint
 * @param {string} refreshToken
 * @returns {Promise<Grant>}
 */
export async function refreshTokens(tokenEndpoint, refreshToken) {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken };
  return readGrant(await postForm(tokenEndpoint, fields, refreshMs));
}

/**
 * @param {string} revocationEndpoint
 * @param {string} refreshToken
 */
export async function revoke(revocationEndpoint, refreshToken) {
  await postForm(revocationEndpoint, { token: refreshToken, token_type_hint: 'refresh_token' });
}

/** Milliseconds for finding out whether a token is accepted. */
const checkMs = 1_500;

/** Milliseconds for a refresh. With the check, and the wait for another process, a token takes less than ten seconds (Claude Code's limit). */
const refreshMs = 3_500;

/**
 * Whether the router accepts an access token. While it is away, it may.
 * @param {string} url an address of the router that needs a token
 * @param {string} accessToken
 */
export async function accepts(url, accessToken) {
  const headers = { authorization: `Bearer ${accessToken}` };
  try {
    const { status } = await send(url, { headers, headOnly: true, timeoutMs: checkMs });
    return status !== 401;
  } catch {
    return true;
  }
}

/**
 * What a router sends, without what would move a terminal's cursor.
 * @param {string} text
 */
function printable(text) {
  return text.replaceAll(/[^\x20-\x7e\u00a0-\ud7ff]/g, '').slice(0, 500);
}

/**
 * The JSON at an address of the router that needs a token; undefined when there is none.
 * @param {string} url
 * @param {string} accessToken
 * @returns {Promise<unknown>}
 */
export async function getJson(url, accessToken) {
  const { status, text } = await ask(url, { headers: { authorization: `Bearer ${accessToken}` } });
  return status === 200 ? parse(text, url) : undefined;
}

/**
 * @param {string} url
 * @param {Record<string, string>} fields
 * @param {number} [timeoutMs]
 * @returns {Promise<Record<string, unknown>>}
 */
async function postForm(url, fields, timeoutMs) {
  const form = new URLSearchParams(fields).toString();
  const { status, text } = await ask(url, { form, ...(timeoutMs !== undefined && { timeoutMs }) });
  const body = text === '' ? {} : parse(text, url);
  if (status === 200) return body;
  const { error, error_description: description } = body;
  if (status >= 500 || typeof error !== 'string') {
    throw new RouterAwayError(`${new URL(url).origin} cannot answer now (status ${status}). Try again soon.`);
  }
  throw new OAuthAnswer(error, printable(typeof description === 'string' ? description : error));
}

/**
 * @param {string} text
 * @param {string} url
 * @returns {Record<string, unknown>}
 */
function parse(text, url) {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new RouterAwayError(`What answers at ${url} is no Model Router.`);
  }
}

/**
 * @param {string} url
 * @param {import('./send.mjs').Outgoing} [request]
 */
async function ask(url, request) {
  try {
    return await send(url, request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RouterAwayError(`${new URL(url).origin} cannot be reached (${reason}).`);
  }
}

/**
 * @param {Record<string, unknown>} answer
 * @returns {Grant}
 */
function readGrant({ access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, email }) {
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string' || typeof seconds !== 'number') {
    throw new ClientError('The router answered with something else than tokens.');
  }
  const expiresAt = Date.now() + seconds * 1_000;
  return { accessToken, refreshToken, expiresAt, email: typeof email === 'string' ? email : undefined };
}
