import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveHttp } from '../servers/serve-http.ts';
import { until } from '../until.ts';

/** A port that operating systems give no client. The address of a server is part of each link to it, so it is the same in all runs. */
const port = 18_749;

export const notesUrl = `http://127.0.0.1:${port}/mcp`;

/**
 * Starts an MCP server with the tool `whoami`, and its authorization server, at a constant address. Tokens are made of the person's name,
 * so a server that starts later accepts those of an earlier one. The first access token of a person lasts for a second.
 */
export async function startNotesMcp() {
  const origin = new URL(notesUrl).origin;
  const handlers = new Map<string, ReturnType<typeof toNodeHandler>>();
  const handlerOf = (name: string) => {
    const handler = handlers.get(name) ?? toNodeHandler(createMcpHandler(() => createServer(name)));
    handlers.set(name, handler);
    return handler;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '' } = request;
    const body = await text(request);
    const json = (value: object): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    switch (path) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json({ resource: notesUrl, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
        return json(metadata(origin));
      case '/register':
        return json({ ...(JSON.parse(body) as object), client_id: 'router' });
      case '/token':
        return json(tokensFor(new URLSearchParams(body)));
    }
    const name = /^Bearer (?:first|renewed)-access-of-(\w+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (name === undefined) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    return handlerOf(name)(
      Object.assign(request, { method, url: path }),
      response,
      body === '' ? undefined : JSON.parse(body),
    );
  };
  let stop: () => Promise<void> = () => Promise.resolve();
  // Another run of the tests on this machine may have the port.
  await until(async () => {
    ({ stop } = await serveHttp(answer, { wanted: port }));
  });
  return { close: stop };
}

function createServer(name: string): McpServer {
  const server = new McpServer({ name: 'notes', version: '1' });
  server.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: name }] }));
  return server;
}

function metadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  };
}

/** Returns tokens for a code, which is the name of a person, or for a refresh token. */
function tokensFor(form: URLSearchParams): object {
  const code = form.get('code');
  const name = code ?? form.get('refresh_token')?.replace('refresh-of-', '') ?? '';
  const [access, seconds] = code === null ? ['renewed', 3_600] : ['first', 1];
  return {
    access_token: `${access}-access-of-${name}`,
    refresh_token: `refresh-of-${name}`,
    token_type: 'Bearer',
    expires_in: seconds,
  };
}
