import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';
import { toLoggableError } from '#shared/core/loggable-error.ts';
import { LinkedServers } from '#services/tools-worker/mcp/linked-servers.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';

const context = { signal: new AbortController().signal, progress: () => undefined };

function serversAt(url: string): LinkedServers {
  const entry = { name: 'notes', kind: 'oauth' as const, server: { url, headers: { 'x-team': 'a' } } };
  return new LinkedServers([entry], 100_000, log);
}

const listening = async (listener: RequestListener): Promise<string> => `${await serveInTest(listener)}/mcp`;

/** Starts a server of the protocol's newest revision with one tool, which answers 401 without the token `good`, and 403 for `narrow` and `read-only`. */
async function startNotes() {
  const asked: { token: string | undefined; team: string | string[] | undefined }[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'notes', version: '1' });
    server.registerTool('read', {}, () => ({ content: [{ type: 'text', text: 'a note' }] }));
    return server;
  });
  const serve = toNodeHandler(stopAfterTest(handler));
  const url = await listening((request, response) => {
    const token = request.headers.authorization;
    asked.push({ token, team: request.headers['x-team'] });
    if (token === 'Bearer narrow') return void response.writeHead(403).end();
    if (token === 'Bearer read-only') {
      return void response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end();
    }
    if (token !== 'Bearer good') return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    const { method = '', url: path = '' } = request;
    return void serve(Object.assign(request, { method, url: path }), response);
  });
  return { url, asked };
}

/**
 * Starts a server of an older revision that refuses the token of a call, and answers 405 to the request for its notices before the body of
 * that refusal ends.
 */
function startOlderNotes(): Promise<string> {
  let refuseNotices = (): void => undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    if (request.method !== 'POST') {
      refuseNotices = () => void response.writeHead(405).end();
      return;
    }
    const { id, method } = (await json(request)) as { id?: number; method: string };
    switch (method) {
      case 'initialize': {
        const result = {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'notes', version: '1' },
        };
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's' });
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
      case 'notifications/initialized':
        return response.writeHead(202).end();
      case 'tools/call':
        response.writeHead(401).flushHeaders();
        await setTimeout(50);
        refuseNotices();
        await setTimeout(50);
        return response.end();
      default:
        return response.writeHead(404).end();
    }
  };
  return listening((request, response) => void answer(request, response));
}

function call(url: string, token: string, tool?: string) {
  const connection = { server: 'notes', url, token, ...(tool !== undefined && { tool }) };
  return serversAt(url).findRun(connection)({}, context);
}

describe("MCP servers with people's account links", () => {
  it('are announced without tools', () => {
    expect(serversAt('https://notes.test/mcp').infos).toEqual([
      expect.objectContaining({ name: 'notes/*', server: 'notes', passes: [] }),
    ]);
  });

  it.each([
    ['of another address', { server: 'notes', url: 'https://other.test/mcp' }],
    ['that are not configured', { server: 'other', url: 'https://notes.test/mcp' }],
  ])('%s get no token', (_, named) => {
    const servers = serversAt('https://notes.test/mcp');
    expect(() => servers.findRun({ ...named, token: 'secret' })).toThrow(RouterError);
    expect(() => servers.findRun({ server: 'notes', url: 'https://notes.test/mcp', token: 'secret' })).not.toThrow();
  });

  it("list their tools, and run them, with the token of the call and the operator's headers", async () => {
    const { url, asked } = await startNotes();
    expect((await call(url, 'good')).structuredContent).toMatchObject({ tools: [{ name: 'read' }] });
    expect(await call(url, 'good', 'read')).toMatchObject({ isError: false, content: [{ text: 'a note' }] });
    expect(await call(url, 'good', 'write')).toMatchObject({ isError: true });
    expect(new Set(asked.map((each) => JSON.stringify(each)))).toEqual(new Set(['{"token":"Bearer good","team":"a"}']));
  });

  it('need an account link if they refuse the token, and have answered if they refuse the call', async () => {
    const { url } = await startNotes();
    await expect(call(url, 'ended', 'read')).rejects.toMatchObject({ code: 'connection_required' });
    for (const token of ['narrow', 'read-only']) {
      expect(await call(url, token, 'read')).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('does not permit') }],
      });
    }
  });

  it('need an account link if they refuse the token, whatever they answer to other requests meanwhile', async () => {
    await expect(call(await startOlderNotes(), 'ended', 'read')).rejects.toMatchObject({ code: 'connection_required' });
  });

  const answerError = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { id } = (await json(request)) as { id: number };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_600, message: 'secret words' } }));
  };
  it.each<[string, RequestListener]>([
    ['with a status', (_, response) => void response.writeHead(500).end('secret words')],
    ['with an error of the protocol', (request, response) => void answerError(request, response)],
  ])(
    'are a failure of the upstream if they fail %s, whose words are neither answered nor logged',
    async (_, listener) => {
      const url = await listening(listener);
      const failing = call(url, 'good', 'read');
      await expect(failing).rejects.toMatchObject({ code: 'upstream_failed' });
      await expect(failing).rejects.not.toThrow('secret words');
      expect(JSON.stringify(toLoggableError(await failing.catch((error: unknown) => error)))).not.toContain(
        'secret words',
      );
    },
  );

  it('do not pass the token to the target of a redirect', async () => {
    const stolen: (string | undefined)[] = [];
    const elsewhere = await listening((request, response) => {
      stolen.push(request.headers.authorization);
      response.writeHead(200).end();
    });
    const url = await listening((_, response) => void response.writeHead(307, { location: elsewhere }).end());
    await expect(call(url, 'good', 'read')).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(stolen).toEqual([]);
  });
});
