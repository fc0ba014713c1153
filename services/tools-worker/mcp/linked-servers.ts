import { InsufficientScopeError, SdkHttpError, type Client } from '@modelcontextprotocol/client';
import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import type { McpAccountLink } from '#shared/broker/contract/job-contract.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import type { McpServerEntry } from '#shared/registry/mcp-servers.ts';
import { createFailedOutput, type Tool, type ToolContext, type ToolOutput } from '../tool.ts';
import { connectClient } from './connect-client.ts';
import { callTool } from './mcp-tool.ts';
import { createServerError, toRefusedOutput } from './refused-call.ts';

/** Maximum milliseconds for a listing of tools. */
const listMs = 30_000;
/** Status of a server that refuses a token. */
const unauthorized = 401;
/** Status of a server for which the token's scopes are not enough (RFC 6750, section 3.1). */
const forbidden = 403;

/**
 * The MCP servers to which each person has their own MCP account link. The worker keeps no data of a person: each call comes with the
 * person's token and has its own connection to the server. The tools depend on the person, so the worker does not announce them. The
 * ingress requests the list of tools instead.
 */
export class LinkedServers {
  /** The entries that the worker announces. They say that the worker can reach these servers. */
  readonly infos: readonly ToolInfo[];
  readonly #entries: ReadonlyMap<string, McpServerEntry>;
  readonly #maxMessageBytes: number;
  readonly #log: Logger;

  /** @param maxMessageBytes maximum bytes of one message from a server */
  constructor(entries: readonly McpServerEntry[], maxMessageBytes: number, log: Logger) {
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#maxMessageBytes = maxMessageBytes;
    this.#log = log;
    this.infos = entries.map(({ name: server }) => ({
      name: contentName(server),
      description: '',
      inputSchema: { type: 'object' },
      server,
      passes: [],
    }));
  }

  /**
   * Returns the function that makes a call with a person's MCP account link. That function calls the tool that the link names. Without a
   * tool, it lists the tools into `structuredContent.tools`.
   * @throws RouterError `upstream_failed` if this worker has no server with the link's name and address
   */
  findRun(connection: McpAccountLink): Tool['run'] {
    const { server: name, url } = connection;
    const entry = this.#entries.get(name);
    if (entry?.kind !== 'oauth' || entry.server.url !== url) {
      const message = `The worker's configuration of the MCP server '${name}' is not the one that the ingress has.`;
      throw new RouterError('upstream_failed', message);
    }
    return (input, context) => this.#call(entry, connection, input, context);
  }

  /**
   * @throws RouterError `connection_required` if the server refuses the token; `upstream_failed` for any other failure
   * @throws the signal's reason
   */
  async #call(
    { name, server }: McpServerEntry & { kind: 'oauth' | 'http' },
    { token, tool }: McpAccountLink,
    input: JsonObject,
    context: ToolContext,
  ): Promise<ToolOutput> {
    const { signal } = context;
    let isCalled = false;
    const headers = { ...server.headers, authorization: `Bearer ${token}` };
    try {
      const connection = await connectClient(
        { name, kind: 'http', server: { ...server, headers } },
        { maxMessageBytes: this.#maxMessageBytes, signal },
      );
      isCalled = tool !== undefined;
      try {
        if (tool === undefined) return await listTools(connection.client, signal);
        return (await callTool(connection.client, tool, input, context)).output;
      } finally {
        // The answer does not wait for the end of the MCP session.
        connection
          .close()
          .catch((error: unknown) => this.#log.debug({ err: error, server: name }, 'a session did not end'));
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const status = findStatus(error);
      if (status === unauthorized)
        throw new RouterError('connection_required', `The MCP server '${name}' does not accept the connection.`);
      if (status === forbidden) return createFailedOutput(`The MCP server '${name}' does not permit this.`);
      const refusedOutput = toRefusedOutput(error);
      if (refusedOutput) return refusedOutput;
      throw createServerError(error, `The MCP server '${name}' failed.`, isCalled);
    }
  }
}

/** Returns the HTTP status of the answer that made a request fail; undefined if the request failed for another reason. */
function findStatus(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  if (error instanceof InsufficientScopeError) return forbidden;
  return error instanceof Error ? findStatus(error.cause) : undefined;
}

async function listTools(client: Client, signal: AbortSignal): Promise<ToolOutput> {
  const { tools } = await client.listTools(undefined, { cacheMode: 'refresh', timeout: listMs, signal });
  // The tools were parsed from JSON.
  return { content: [], structuredContent: { tools: tools as unknown as JsonObject[] }, isError: false };
}
