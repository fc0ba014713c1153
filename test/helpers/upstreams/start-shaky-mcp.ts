import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

/** An MCP server over HTTP with one tool, `shaky`, that lists its tools in any case and answers calls with 500 while it is broken. */
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
    const { method = '', url = '' } = request;
    await serve(Object.assign(request, { method, url }), response, body === '' ? undefined : JSON.parse(body));
  };
  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    /** Calls that have come so far. */
    calls: () => calls,
    breaks: (broken: boolean) => void (isBroken = broken),
    close: async () => {
      await handler.close();
      http.closeAllConnections();
      http.close();
    },
  };
}
