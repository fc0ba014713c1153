import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  LATEST_PROTOCOL_VERSION,
  resourceUrlFromServerUrl,
  type AuthorizationServerMetadata,
} from '@modelcontextprotocol/client';
import type { GuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { version } from '#shared/core/version.ts';
import { ConnectError } from './connect-error.ts';

/** The source of tokens for a server. */
export interface TokenSource {
  /** The issuer name of the authorization server. */
  issuer: string;
  metadata: AuthorizationServerMetadata;
  /** The resource for which tokens are requested (RFC 8707): the name that the server gives itself. */
  resource: string;
  /** The scopes that the server names; undefined if it names none. */
  scope: string | undefined;
}

const pkceMethod = 'S256';

/**
 * Finds the authorization server of an MCP server, as the Model Context Protocol describes ("Authorization"). The server answers a request
 * without a token with the URL of its metadata (RFC 9728). These metadata name the authorization server. The metadata of the authorization
 * server (RFC 8414, OpenID Connect Discovery) describe how to request tokens.
 * @throws ConnectError when metadata are missing, belong to another server, or lack PKCE; the errors of `fetch`
 */
export async function discoverServer(url: string, fetch: GuardedFetch): Promise<TokenSource> {
  const challenge = extractWWWAuthenticateParams(await askWithoutToken(url, fetch));
  const metadataUrl = challenge.resourceMetadataUrl;
  const serverMetadata = await discoverOAuthProtectedResourceMetadata(
    url,
    metadataUrl ? { resourceMetadataUrl: metadataUrl } : {},
    fetch,
  );
  const requestedResource = resourceUrlFromServerUrl(new URL(url));
  if (!checkResourceAllowed({ requestedResource, configuredResource: serverMetadata.resource }))
    throw new ConnectError('The metadata of the server are those of another server.');
  const [issuer] = serverMetadata.authorization_servers ?? [];
  if (issuer === undefined) throw new ConnectError('The server names no authorization server.');
  const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (!metadata) throw new ConnectError('The authorization server of the server has no metadata.');
  if (!metadata.code_challenge_methods_supported?.includes(pkceMethod))
    throw new ConnectError(
      `The authorization server does not announce PKCE with ${pkceMethod}, without which nobody is connected.`,
    );
  for (const address of [metadata.authorization_endpoint, metadata.token_endpoint]) requireSecure(address);
  const scope = challenge.scope ?? serverMetadata.scopes_supported?.join(' ');
  return { issuer: metadata.issuer, metadata, resource: serverMetadata.resource, scope };
}

/** Sends the first message of an MCP client, without a token, and returns the answer. */
function askWithoutToken(url: string, fetch: GuardedFetch): Promise<Response> {
  const clientInfo = { name: 'model-router', version };
  const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo };
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
}

/** Requires TLS for URLs to which people and secrets are sent, except on this machine (RFC 8252, 7.3). */
function requireSecure(address: string): void {
  const { protocol, hostname } = new URL(address);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal))
    throw new ConnectError('The authorization server does not use https.');
}
