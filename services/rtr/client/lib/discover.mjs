import { normalizeAddress } from './normalize-address.mjs';
import { request, RouterUnreachableError } from './ask.mjs';
import { ClientError } from './client-error.mjs';
import { quoteShellWord } from './programs/shell-word.mjs';
import { withParents } from './router-address.mjs';

/**
 * Addresses at which a router signs programs in, and addresses of its APIs. All have the origin of the router, and the spelling of
 * `normalizeAddress`.
 * @typedef {object} Endpoints
 * @property {string} router address at which the endpoints were found
 * @property {string} device
 * @property {string} token
 * @property {string | undefined} revocation
 * @property {Record<string, string>} apis addresses by name: `openai`, `anthropic`
 */

/**
 * Finds the endpoints of a router (RFC 8414) at an address, or at the same address with a shorter path.
 * @param {string} entered address as `routerAddress` returns it
 * @returns {Promise<Endpoints>}
 */
export async function discover(entered) {
  for (const router of withParents(entered)) {
    const found = await findDocument(router);
    if (found) return toEndpoints(router, found);
  }
  throw new ClientError(`${entered} is no Model Router.`);
}

/**
 * Reads the document at the well-known path below an address. Returns undefined if it is not the document of a router.
 * @param {string} router
 */
async function findDocument(router) {
  const { status, text } = await request(`${router}/.well-known/oauth-authorization-server`);
  if (status >= 500)
    throw new RouterUnreachableError(`${router} cannot answer now (status ${status}). Try again soon.`);
  if (status !== 200) return undefined;
  const found = parseObject(text);
  const { device_authorization_endpoint: device, token_endpoint: token } = found;
  return typeof device === 'string' && typeof token === 'string' ? { ...found, device, token } : undefined;
}

/**
 * @param {string} text
 * @returns {Record<string, unknown>} empty for a text that is not JSON
 */
function parseObject(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/**
 * @param {string} router
 * @param {Record<string, unknown> & { device: string, token: string }} found
 * @returns {Endpoints}
 */
function toEndpoints(router, found) {
  const { origin } = new URL(router);
  /** @param {string} value */
  const requireOwnAddress = (value) => {
    const address = normalizeAddress(value, origin);
    if (address !== undefined) return address;
    const named = URL.canParse(value) ? quoteShellWord(new URL(value).origin) : 'the address that its operator names';
    throw new ClientError(`${router} says that its address is another one. If that is right: rtr login ${named}`);
  };
  const { issuer, device, token, revocation_endpoint: revocation } = found;
  // RFC 8414, section 3.3, demands this check.
  if (typeof issuer === 'string') requireOwnAddress(issuer);
  return {
    router,
    device: requireOwnAddress(device),
    token: requireOwnAddress(token),
    revocation: typeof revocation === 'string' ? requireOwnAddress(revocation) : undefined,
    apis: readApis(found, origin),
  };
}

/**
 * @param {Record<string, unknown>} found
 * @param {string} origin
 * @returns {Record<string, string>}
 */
function readApis({ model_router_apis: named }, origin) {
  const apis = Object.entries(Object(named)).flatMap(([name, value]) => {
    const address = normalizeAddress(value, origin);
    // Paths are appended to the address.
    if (address === undefined || /[?#]/.test(address)) return [];
    return [[name, address.replace(/\/+$/, '')]];
  });
  return Object.fromEntries(apis);
}
