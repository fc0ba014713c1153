import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import type { JsonObject } from '#shared/core/json.ts';
import { version } from '#shared/core/version.ts';

/** The name of the server in Gemini CLI, and what it puts before the names of its tools. */
export const serverName = 'client';
export const prefix = `mcp_${serverName}_`;

/** A tool of the client, as the model sees it but for the prefix. */
export interface ListedTool {
  name: string;
  description: string;
  /** JSON schema of an object. */
  inputSchema: JsonObject;
}

/**
 * Lists a client's tools for Gemini CLI: an MCP server on the loopback interface, for those who know its secret. Nobody calls a tool
 * of it, because Gemini CLI is not allowed to; it reports what the model wanted to call.
 */
export class ToolListServer {
  readonly #http: HttpServer;
  readonly #secret = Buffer.from(`Bearer ${randomBytes(32).toString('base64url')}`);
  #tools: readonly ListedTool[] = [];

  private constructor() {
    const handler = createMcpHandler(() => this.#mcp());
    const answer = toNodeHandler(handler);
    this.#http = createServer((request, response) => {
      const given = Buffer.from(request.headers.authorization ?? '');
      const isKnown = given.length === this.#secret.length && timingSafeEqual(given, this.#secret);
      if (!isKnown) response.writeHead(401).end();
      // A request that has come has both.
      else
        answer(request as IncomingMessage & { method: string; url: string }, response).catch(() => response.destroy());
    });
  }

  static async open(): Promise<ToolListServer> {
    const server = new ToolListServer();
    server.#http.listen(0, '127.0.0.1');
    await once(server.#http, 'listening');
    return server;
  }

  /** The tools that are listed from now on. */
  set tools(tools: readonly ListedTool[]) {
    this.#tools = tools;
  }

  /** As the Agent Client Protocol describes a server (`session/load`, `mcpServers`). */
  get description(): JsonObject {
    const { port } = this.#http.address() as AddressInfo;
    const headers = [{ name: 'authorization', value: this.#secret.toString() }];
    return { type: 'http', name: serverName, url: `http://127.0.0.1:${port}/mcp`, headers };
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  #mcp(): Server {
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
