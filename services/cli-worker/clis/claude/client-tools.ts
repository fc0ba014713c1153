import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/**
 * Offers a client's tools to Claude Code as an MCP server over control requests. Lists only the names of the tools, so that Claude Code waits
 * for the permission to call a tool. The upstream gets the client's descriptions of the tools in a field of the request. Runs no tool.
 */
export class ClientTools {
  static readonly serverName = 'client';
  readonly whenListed: Promise<void>;
  readonly #names: readonly string[];
  readonly #onListed: () => void;

  constructor(names: readonly string[]) {
    this.#names = names;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.whenListed = promise;
    this.#onListed = resolve;
  }

  /** Returns the answer to a message of the MCP client; undefined for the call of a tool. */
  answer({ id, method, params }: JsonObject): JsonObject | undefined {
    // A notification needs an answer, too. The content of that answer has no meaning.
    const createResponse = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: id ?? 0, result });
    switch (method) {
      case 'initialize':
        return createResponse(createInitializeResult(isJsonObject(params) ? params['protocolVersion'] : undefined));
      case 'tools/list':
        this.#onListed();
        return createResponse({
          tools: this.#names.map((name) => ({ name, description: '', inputSchema: { type: 'object' } })),
        });
      case 'tools/call':
        return undefined;
      default:
        return createResponse({});
    }
  }
}

function createInitializeResult(version: Json | undefined): JsonObject {
  return {
    protocolVersion: version ?? '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: ClientTools.serverName, version: '1' },
  };
}
