import { createHash, randomBytes } from 'node:crypto';
import { Provider } from 'oidc-provider';
import { grantAccess } from './start-protected-mcp.ts';
import { serveHttp } from '../servers/serve-http.ts';

/** The client, and so the audience of id tokens, and of access tokens as well. */
export const clientId = 'router';
const resource = 'https://llm.example.com';
const redirectUri = 'https://desktop.example.com/callback';

/**
 * Starts the provider.
 * @param verified whether the provider has verified an address
 */
export async function startTokenProvider(verified: (email: string) => boolean = () => true) {
  let serve: ReturnType<Provider['callback']> | undefined;
  const { url: issuer, stop } = await serveHttp((request, response) => serve?.(request, response));
  const claimsOf = (name: string) => ({
    email: `${name}@example.com`,
    email_verified: verified(`${name}@example.com`),
  });
  const provider = new Provider(issuer, {
    cookies: { keys: ['any'] },
    scopes: ['openid', 'email', 'models'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...claimsOf(accountId) }) }),
    extraTokenClaims: (_, { accountId = '' }) => claimsOf(accountId),
    ttl: { Interaction: 600, Session: 3_600, Grant: 86_400, AccessToken: 3_600, IdToken: 3_600 },
    clients: [
      {
        client_id: clientId,
        token_endpoint_auth_method: 'none',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
      },
    ],
    features: {
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'models',
          audience: clientId,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 3_600,
        }),
      },
    },
  });
  serve = provider.callback();

  const signIn = async (name: string) => {
    const verifier = randomBytes(32).toString('base64url');
    const wanted = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid email models',
      resource,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const back = await grantAccess(`${issuer}/auth?${wanted.toString()}`, name);
    const form = {
      client_id: clientId,
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource,
    };
    const answer = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(form) });
    const body = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`no tokens: ${JSON.stringify(body)}, after ${back.href}`);
    return { idToken: String(body['id_token']), accessToken: String(body['access_token']) };
  };
  return {
    issuer,
    /** Returns the tokens of a person with this name, whose address is `<name>@example.com`. Both are for `router`. */
    signIn,
    close: stop,
  };
}

/** An identity provider (oidc-provider) at which people sign in with the name of their account. */
export type TokenProvider = Awaited<ReturnType<typeof startTokenProvider>>;
