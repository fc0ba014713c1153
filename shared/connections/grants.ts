import {
  exchangeAuthorization,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
  type AuthorizationServerMetadata,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { GuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import type { OauthServer } from '#shared/registry/mcp-servers.ts';
import { ConnectError } from './connect-error.ts';
import { discoverServer } from './discover-server.ts';

const clientName = 'Model Router';

/**
 * An authorization server, and the router as its client: everything that a request for tokens needs. Unknown fields of the metadata are
 * kept.
 */
export const authorizationClientSchema = z.object({
  metadata: z.custom<AuthorizationServerMetadata>((value) => typeof Object(value).token_endpoint === 'string'),
  client: z.looseObject({ client_id: z.string(), client_secret: z.string().optional() }),
  resource: z.string(),
  redirectUrl: z.string(),
});

export type AuthorizationClient = z.output<typeof authorizationClientSchema>;

/** The fields on revocation in the metadata of an authorization server (RFC 8414, 2). */
const revocationSchema = z.object({
  revocation_endpoint: z.url({ protocol: /^https?$/ }).optional(),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional(),
});

/** What is stored while a person is at the authorization server. */
export const pendingGrantSchema = z.object({ grantor: authorizationClientSchema, verifier: z.string() });

export type PendingGrant = z.output<typeof pendingGrantSchema>;

/**
 * Discovers a server's authorization server, and registers the router there if the registry names no client. Returns the URL at which a
 * person grants access, and what `redeemCode` needs when the person returns.
 */
export async function beginGrant(
  { url, client: { clientId, clientSecret, scopes } }: OauthServer,
  redirectUrl: string,
  state: string,
  fetch: GuardedFetch,
): Promise<PendingGrant & { authorizationUrl: URL }> {
  const { issuer, metadata, resource, scope: namedScope } = await discoverServer(url, fetch);
  const scope = addRefreshScope(scopes?.join(' ') ?? namedScope, metadata);
  const client =
    clientId === undefined
      ? await registerRouter(metadata, redirectUrl, scope, fetch)
      : { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: client,
    redirectUrl,
    state,
    resource,
    ...(scope !== undefined && { scope }),
  });
  return { grantor: { metadata, client, resource, redirectUrl }, verifier, authorizationUrl };
}

/**
 * Exchanges a code for tokens.
 * @param iss the issuer that the answer names (RFC 9207); undefined if it names none
 */
export function redeemCode(
  { grantor: { metadata, client, resource, redirectUrl }, verifier }: PendingGrant,
  { code, iss }: { code: string; iss: string | undefined },
  fetch: GuardedFetch,
): Promise<OAuthTokens> {
  return exchangeAuthorization(metadata.issuer, {
    metadata,
    clientInformation: client,
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    resource,
    fetchFn: fetch,
    ...(iss !== undefined && { iss }),
  });
}

/** Requests new tokens. The refresh token stays the same if the server issues no new one. */
export function refreshGrant(
  grantor: AuthorizationClient,
  refreshToken: string,
  fetch: GuardedFetch,
): Promise<OAuthTokens> {
  const { metadata, client, resource } = grantor;
  return refreshAuthorization(metadata.issuer, {
    metadata,
    clientInformation: client,
    refreshToken,
    resource,
    fetchFn: fetch,
  });
}

/**
 * Asks the authorization server to revoke a token, and the tokens that were issued with it (RFC 7009). Returns false if the server does
 * not.
 */
export async function revokeGrant(
  { metadata, client }: AuthorizationClient,
  [token, hint]: readonly [string, 'refresh_token' | 'access_token'],
  fetch: GuardedFetch,
): Promise<boolean> {
  const { token_endpoint_auth_methods_supported: tokenMethods = [] } = metadata;
  const { revocation_endpoint: endpoint, revocation_endpoint_auth_methods_supported: methods = tokenMethods } =
    revocationSchema.parse(metadata);
  if (endpoint === undefined) return false;
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const body = new URLSearchParams({ token, token_type_hint: hint });
  const { client_id: id, client_secret: secret = '' } = client;
  const method = selectClientAuthMethod(client, methods);
  if (method === 'client_secret_basic') headers.set('authorization', `Basic ${btoa(`${id}:${secret}`)}`);
  else body.set('client_id', id);
  if (method === 'client_secret_post') body.set('client_secret', secret);
  const { ok } = await fetch(endpoint, { method: 'POST', headers, body });
  return ok;
}

/** Registers the router as a client, for one person's MCP account link (RFC 7591). */
async function registerRouter(
  metadata: AuthorizationServerMetadata,
  redirectUrl: string,
  scope: string | undefined,
  fetch: GuardedFetch,
): Promise<AuthorizationClient['client']> {
  if (metadata.registration_endpoint === undefined)
    throw new ConnectError(
      'The authorization server takes no registrations: an administrator must configure a client.',
    );
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = metadata;
  const method = ['client_secret_basic', 'client_secret_post', 'none'].find((name) => methods.includes(name));
  const isLocal = redirectUrl.startsWith('http:');
  return registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: method ?? 'none',
      // A URL without TLS can only lead to the person's own machine (RFC 8252, 7.3).
      application_type: isLocal ? 'native' : 'web',
    },
    fetchFn: fetch,
    ...(scope !== undefined && { scope }),
  });
}

/** Adds the scope for a refresh token, if the authorization server has one. */
function addRefreshScope(scope: string | undefined, { scopes_supported: supported = [] }: AuthorizationServerMetadata) {
  const scopes = scope?.split(' ') ?? [];
  const isMissing = supported.includes('offline_access') && !scopes.includes('offline_access');
  return isMissing ? [...scopes, 'offline_access'].join(' ') : scope;
}
