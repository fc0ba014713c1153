import { normalizeAddress } from './normalize-address.mjs';
import { parseObject } from './json-object.mjs';
import { request, RouterUnreachableError } from './router-request.mjs';
import { ClientError } from './client-error.mjs';
import { quoteShellWord } from './programs/shell-word.mjs';
import { listAddressAndParents } from './router-address.mjs';
import { findOwnCommand } from './own-command.mjs';

/**
 * The OAuth endpoints of a router and the addresses of its APIs. All have the origin of the router and are normalized by
 * `normalizeAddress`.
 * @typedef {object} Endpoints
 * @property {string} router address at which the endpoints were found
 * @property {string} device endpoint that begins a sign-in (RFC 8628)
 * @property {string} token endpoint for tokens
 * @property {string | undefined} revocation endpoint that revokes tokens (RFC 7009)
 * @property {Record<string, string>} apis addresses by name: `openai`, `anthropic`
 */

/**
 * Finds the endpoints of a router (RFC 8414) at an address, or at the same address with a shorter path.
 * @param {string} entered address as `toRouterAddress` returns it
 * @returns {Promise<Endpoints>}
 */
export async function discover(entered) {
  for (const router of listAddressAndParents(entered)) {
    const metadata = await fetchMetadata(router);
    if (metadata) return toEndpoints(router, metadata);
  }
  throw new ClientError(`The server at ${entered} is not a Model Router.`);
}

/**
 * Fetches the metadata document at the well-known path below an address. Returns undefined if the address has no such document.
 * @param {string} router
 */
async function fetchMetadata(router) {
  const { status, text } = await request(`${router}/.well-known/oauth-authorization-server`);
  if (status >= 500)
    throw new RouterUnreachableError(`${router} cannot answer now (status ${status}). Try again soon.`);
  if (status !== 200) return undefined;
  const metadata = parseObject(text);
  const { device_authorization_endpoint: device, token_endpoint: token } = metadata;
  return typeof device === 'string' && typeof token === 'string' ? { ...metadata, device, token } : undefined;
}

/**
 * @param {string} router
 * @param {Record<string, unknown> & { device: string, token: string }} metadata
 * @returns {Endpoints}
 */
function toEndpoints(router, metadata) {
  const { origin } = new URL(router);
  /** @param {string} value */
  const requireOwnAddress = (value) => {
    const address = normalizeAddress(value, origin);
    if (address !== undefined) return address;
    const suggestion = URL.canParse(value)
      ? quoteShellWord(new URL(value).origin)
      : 'the address that its operator names';
    throw new ClientError(
      `${router} says that it has another address. If that is right: ${findOwnCommand()} login ${suggestion}`,
    );
  };
  const { issuer, device, token, revocation_endpoint: revocation } = metadata;
  // RFC 8414, section 3.3, requires this check.
  if (typeof issuer === 'string') requireOwnAddress(issuer);
  return {
    router,
    device: requireOwnAddress(device),
    token: requireOwnAddress(token),
    revocation: typeof revocation === 'string' ? requireOwnAddress(revocation) : undefined,
    apis: readApis(metadata, origin),
  };
}

/**
 * @param {Record<string, unknown>} metadata
 * @param {string} origin
 * @returns {Record<string, string>}
 */
function readApis({ model_router_apis: listed }, origin) {
  const apis = Object.entries(Object(listed)).flatMap(([name, value]) => {
    const address = normalizeAddress(value, origin);
    // Paths are appended to the address.
    if (address === undefined || /[?#]/.test(address)) return [];
    return [[name, address.replace(/\/+$/, '')]];
  });
  return Object.fromEntries(apis);
}
