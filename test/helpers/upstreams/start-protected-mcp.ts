import type { RequestListener } from 'node:http';
import express from 'express';
import { Provider } from 'oidc-provider';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CookieClient } from '../clients/cookie-client.ts';
import { serveHttp } from '../servers/serve-http.ts';

/** A client that the authorization server accepts without a registration. */
export const knownClient = { id: 'known-client', secret: 'secret-of-the-known-client' };

/**
 * Starts an authorization server (oidc-provider) and an MCP server (the official SDK) that accepts its tokens. Any name can sign in;
 * `whoami` answers that name, and only Grace has `payroll`.
 * @param redirectUrls addresses to which the known client may lead people back
 */
export async function startProtectedMcp(redirectUrls: readonly string[] = []) {
  const asked: string[] = [];
  const tokens: string[] = [];
  const refused = new Set<string>();
  let lifetime = 3_600;
  let isBroken = false;
  const authorization = await serveHttp((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://any');
    asked.push(pathname);
    if (isBroken && pathname === '/token') response.writeHead(503).end('out of order');
    else serveProvider(request, response);
  });
  let serveMcp: RequestListener | undefined;
  const mcp = await serveHttp((request, response) => serveMcp?.(request, response));
  serveMcp = protectedApp(mcp.url);
  const resource = `${mcp.url}/mcp`;
  const provider = new Provider(authorization.url, {
    cookies: { keys: ['any'] },
    scopes: ['openid', 'offline_access', 'notes'],
    rotateRefreshToken: true,
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    ttl: { Interaction: 600, Session: 3_600, Grant: 86_400, AccessToken: () => lifetime, RefreshToken: 86_400 },
    clients: redirectUrls.length === 0 ? [] : [clientWith(redirectUrls)],
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, indicator) => {
          if (indicator !== resource) throw new Error(`no tokens for ${indicator}`);
          return { scope: 'notes', audience: indicator, accessTokenFormat: 'opaque', accessTokenTTL: lifetime };
        },
      },
    },
  });
  const serveProvider = provider.callback();

  function protectedApp(origin: string): RequestListener {
    const app = express();
    const metadataPath = '/.well-known/oauth-protected-resource/mcp';
    app.get(metadataPath, (_, response) => {
      const servers = [authorization.url];
      response.json({ resource: `${origin}/mcp`, authorization_servers: servers, scopes_supported: ['notes'] });
    });
    const verifyAccessToken = async (token: string) => {
      tokens.push(token);
      const found = await provider.AccessToken.find(token);
      if (!found || found.aud !== `${origin}/mcp` || refused.has(token)) throw new InvalidTokenError('not valid');
      const { clientId = '', scope = '', accountId, exp } = found;
      return { token, clientId, scopes: scope.split(' '), expiresAt: exp, extra: { accountId } };
    };
    const resourceMetadataUrl = `${origin}${metadataPath}`;
    app.all('/mcp', requireBearerAuth({ verifier: { verifyAccessToken }, resourceMetadataUrl }), express.json());
    app.all('/mcp', async (request, response) => {
      const name = String(request.auth?.extra?.['accountId']);
      const server = new McpServer({ name: 'notes', version: '1' });
      server.registerTool('whoami', { description: 'Says who calls.' }, () => ({
        content: [{ type: 'text', text: name }],
      }));
      if (name === 'grace')
        server.registerTool('payroll', {}, () => ({ content: [{ type: 'text', text: 'secret figures' }] }));
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      response.on('close', () => void server.close());
      // The SDK's own types differ in optional fields.
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    });
    return app;
  }

  return {
    url: resource,
    issuer: authorization.url,
    provider,
    /** Requested paths of the authorization server so far, without parameters. */
    asked,
    /** Tokens that the MCP server has received, in order. */
    tokens,
    /** Sets the lifetime of access tokens from now on, in seconds. */
    setLifetime: (seconds: number) => void (lifetime = seconds),
    /** Makes the authorization server answer requests for tokens with 503. */
    breakTokens: (broken: boolean) => void (isBroken = broken),
    /** Makes the MCP server refuse a token from now on, although it has not expired. */
    refuse: (token: string) => void refused.add(token),
    close: async () => {
      await Promise.all([authorization.stop(), mcp.stop()]);
    },
  };
}

export type ProtectedMcp = Awaited<ReturnType<typeof startProtectedMcp>>;

function clientWith(redirectUrls: readonly string[]) {
  return {
    client_id: knownClient.id,
    client_secret: knownClient.secret,
    redirect_uris: [...redirectUrls],
    grant_types: ['authorization_code', 'refresh_token'],
  };
}

/**
 * Grants access as a person with a browser does: signs in at the authorization server, and consents.
 * @returns the address to which the browser is sent back, which is not visited
 */
export async function grantAccess(authorizationUrl: string, login: string): Promise<URL> {
  const { origin } = new URL(authorizationUrl);
  const browser = new CookieClient();
  const stopsAt = (url: URL): boolean => url.origin !== origin;
  let page = await browser.visit(authorizationUrl, { stopsAt });
  for (let step = 0; page.status !== 0; step += 1) {
    const prompt = /name="prompt" value="(\w+)"/.exec(page.text)?.[1];
    const action = /action="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
    if (prompt === undefined || action === undefined || step === 10)
      throw new Error(`no form at ${page.url.href}: ${page.text.slice(0, 500)}`);
    const form = { prompt, login, password: 'any' };
    page = await browser.visit(new URL(action, page.url), { form, stopsAt });
  }
  return page.url;
}
