import { Provider } from 'oidc-provider';
import { serveHttp } from '../servers/serve-http.ts';

export interface ProvidedAccount {
  name?: string;
  email?: string;
  email_verified?: boolean;
  groups?: string[];
}

export const loginClient = { id: 'router', secret: 'secret-of-the-router-at-its-provider' };

/**
 * Starts the provider.
 * @param redirectUrls the callbacks of the router
 */
export async function startLoginProvider(redirectUrls: readonly string[]) {
  const accounts = new Map<string, ProvidedAccount>();
  let lifetime = 3_600;
  let isBroken = false;
  let serve: (...request: Parameters<ReturnType<Provider['callback']>>) => void = () => {};
  const { url: issuer, stop } = await serveHttp((request, response) => {
    if (isBroken) response.writeHead(503).end('out of order');
    else serve(request, response);
  });
  const provider = new Provider(issuer, {
    cookies: { keys: ['any'] },
    scopes: ['openid', 'offline_access', 'email', 'profile'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    findAccount: (_, accountId) => {
      const account = accounts.get(accountId);
      return account && { accountId, claims: () => ({ sub: accountId, ...account }) };
    },
    ttl: {
      Interaction: 600,
      Session: 3_600,
      Grant: 86_400,
      IdToken: 3_600,
      AccessToken: () => lifetime,
      RefreshToken: 86_400,
    },
    clients: [
      {
        client_id: loginClient.id,
        client_secret: loginClient.secret,
        redirect_uris: [...redirectUrls],
        post_logout_redirect_uris: redirectUrls.map((url) => new URL('/', url).href),
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    pkce: { required: () => true },
    features: { revocation: { enabled: true } },
  });
  serve = provider.callback();
  return {
    issuer,
    /** Accounts by name. A removed account is refused from then on, also when its tokens are refreshed. */
    accounts,
    /** Sets the lifetime of access tokens from now on, in seconds. */
    setLifetime: (seconds: number) => void (lifetime = seconds),
    /** Makes it answer everything with 503. */
    break: (broken: boolean) => void (isBroken = broken),
    close: stop,
  };
}

/** A company's provider (oidc-provider), at which people sign in with the name of their account. */
export type LoginProvider = Awaited<ReturnType<typeof startLoginProvider>>;
