import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveHttp } from '../servers/serve-http.ts';

/** Starts an MCP server over HTTP with one tool, `shaky`. It always lists its tools, and answers calls with 500 while it is broken. */
export async function startShakyMcp() {
  let isBroken = false;
  let calls = 0;
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'shaky', version: '1' });
    server.registerTool('shaky', {}, () => ({ content: [{ type: 'text', text: 'done' }] }));
    return server;
  });
  const serve = toNodeHandler(handler);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const isCall = body.includes('"tools/call"');
    if (isCall) calls += 1;
    if (isCall && isBroken) return void response.writeHead(500).end('out of order');
    const { method = '', url: path = '' } = request;
    await serve(Object.assign(request, { method, url: path }), response, body === '' ? undefined : JSON.parse(body));
  };
  const { url, stop } = await serveHttp(answer);
  return {
    url: `${url}/mcp`,
    calls: () => calls,
    breaks: (broken: boolean) => void (isBroken = broken),
    close: async () => {
      await handler.close();
      await stop();
    },
  };
}
