import { addressAt } from './address-at.mjs';
import { ask, parse } from './ask.mjs';
import { ClientError } from './client-error.mjs';
import { shellWord } from './programs/shell-word.mjs';

/**
 * Where a router signs programs in, and where its APIs are. All addresses are at the origin of the router, as `addressAt` spells them.
 * @typedef {object} Endpoints
 * @property {string} device
 * @property {string} token
 * @property {string | undefined} revocation
 * @property {Record<string, string>} apis addresses by name: `openai`, `anthropic`
 */

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
    const address = addressAt(value, origin);
    if (address !== undefined) return address;
    const named = URL.canParse(value) ? shellWord(new URL(value).origin) : 'the address that its operator names';
    throw new ClientError(`${router} says that its address is another one. If that is right: rtr login ${named}`);
  };
  // RFC 8414, section 3.3.
  endpoint('issuer');
  const device = endpoint('device_authorization_endpoint');
  const token = endpoint('token_endpoint');
  if (answer.status !== 200 || device === undefined || token === undefined) {
    throw new ClientError(`${router} is no Model Router, or one of a release that programs cannot sign in to.`);
  }
  return { device, token, revocation: endpoint('revocation_endpoint'), apis: apisOf(found, origin) };
}

/**
 * @param {Record<string, unknown>} found
 * @param {string} origin
 * @returns {Record<string, string>}
 */
function apisOf({ model_router_apis: named }, origin) {
  const apis = Object.entries(Object(named)).flatMap(([name, value]) => {
    const address = addressAt(value, origin);
    // Paths are added to it.
    if (address === undefined || /[?#]/.test(address)) return [];
    return [[name, address.replace(/\/+$/, '')]];
  });
  return Object.fromEntries(apis);
}
