import type { RequestHandler } from 'express';
import { resolveRouterAddress } from '#shared/core/router-address.ts';

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Version of the protocol between Claude Code and a gateway to which it signs in. There is only one version so far. */
const gatewayProtocolVersion = 1;

/**
 * Path of the router's OAuth metadata. It is appended to a base URL of the router, or inserted before the path of that URL (RFC 8414,
 * section 3).
 */
export const metadataPath = '/.well-known/oauth-authorization-server';

/**
 * Creates the handler of the OAuth metadata (RFC 8414).
 * @param base base path of the endpoints; `''` for the root
 * @param apis names and paths of the APIs, for `rtr env`
 */
export function createMetadataHandler(
  base: string,
  apis: readonly { name: string; path: string }[],
  publicUrl: string | undefined,
): RequestHandler {
  return (request, response) => {
    const address = resolveRouterAddress(request, publicUrl);
    const issuer = `${address}${base}`;
    response.set('cache-control', 'no-store').json({
      issuer,
      device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      grant_types_supported: [deviceGrant, 'refresh_token'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      gateway_protocol_version: gatewayProtocolVersion,
      model_router_apis: Object.fromEntries(apis.map(({ name, path }) => [name, `${address}${path}`])),
    });
  };
}
