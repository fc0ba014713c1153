import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import type { JsonObject } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';

export interface ListedTool {
  name: string;
  description: string;
  /** JSON schema of an object. */
  inputSchema: JsonObject;
}

/**
 * Lists a client's tools for a CLI: an MCP server on the loopback interface that requires a secret. The CLI is not allowed
 * to call a tool here. It only reports the calls that the model made.
 */
export class ToolListServer {
  readonly authorization = `Bearer ${randomBytes(32).toString('base64url')}`;
  readonly #http: HttpServer;
  #tools: readonly ListedTool[] = [];

  private constructor() {
    const secret = Buffer.from(this.authorization);
    const handleMcp = toNodeHandler(createMcpHandler(() => this.#createMcpServer()));
    this.#http = createServer((request, response) => {
      const sentSecret = Buffer.from(request.headers.authorization ?? '');
      const isAuthorized = sentSecret.length === secret.length && timingSafeEqual(sentSecret, secret);
      if (!isAuthorized) response.writeHead(401).end();
      // An incoming request has both fields.
      else
        handleMcp(request as IncomingMessage & { method: string; url: string }, response).catch(() =>
          response.destroy(),
        );
    });
  }

  static async open(): Promise<ToolListServer> {
    const server = new ToolListServer();
    server.#http.listen(0, '127.0.0.1');
    await once(server.#http, 'listening');
    return server;
  }

  set tools(tools: readonly ListedTool[]) {
    this.#tools = tools;
  }

  get url(): string {
    const { port } = this.#http.address() as AddressInfo;
    return `http://127.0.0.1:${port}/mcp`;
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  #createMcpServer(): Server {
    const server = new Server({ name: 'model-router', version }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: this.#tools.map(({ inputSchema, ...tool }) => ({
        ...tool,
        inputSchema: inputSchema as { type: 'object' },
      })),
    }));
    return server;
  }
}
