import type { Client } from '@modelcontextprotocol/client';
import { contentMethods, contentName, type ContentKind } from '#shared/broker/contract/server-content.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Tool, ToolContext, ToolOutput } from '../tool.ts';
import { createServerError, toRefusedOutput } from './refused-call.ts';

/**
 * The resources, prompts and completions of an MCP server. Valid for one connection. They are requested like a tool call: the input has the
 * protocol's `method` and `params`, and the structured content of the output is the server's result.
 */
export class ServerContent implements Tool {
  readonly name: string;
  readonly description = '';
  readonly inputSchema: JsonObject = { type: 'object', required: ['method', 'params'] };
  /** The kinds of content that the server has. */
  readonly passes: readonly ContentKind[];
  readonly #client: Client;
  readonly #onNoAnswer: () => void;

  /** @param onNoAnswer called when a request fails without an answer of the server */
  constructor(server: string, client: Client, onNoAnswer: () => void) {
    const { resources, prompts, completions } = client.getServerCapabilities() ?? {};
    this.name = contentName(server);
    this.passes = [
      ...(resources ? (['resources'] as const) : []),
      ...(prompts ? (['prompts'] as const) : []),
      ...(completions ? (['completions'] as const) : []),
    ];
    this.#client = client;
    this.#onNoAnswer = onNoAnswer;
  }

  async run({ method, params }: JsonObject, { signal }: ToolContext): Promise<ToolOutput> {
    try {
      const result = await this.#sendRequest(method, params as JsonObject, signal);
      // The result was parsed from JSON.
      return { content: [], structuredContent: { result: result as unknown as JsonObject }, isError: false };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof RouterError) throw error;
      const refusedOutput = toRefusedOutput(error);
      if (refusedOutput) return refusedOutput;
      this.#onNoAnswer();
      throw createServerError(error, `The MCP server of '${this.name}' failed.`);
    }
  }

  /** Sends the request. The MCP client reads all pages of a list by itself. */
  #sendRequest(method: unknown, params: JsonObject, signal: AbortSignal): Promise<object> {
    const fresh = { cacheMode: 'refresh', signal } as const;
    switch (contentMethods.find((known) => known === method)) {
      case 'resources/list':
        return this.#client.listResources(undefined, fresh);
      case 'resources/templates/list':
        return this.#client.listResourceTemplates(undefined, fresh);
      case 'resources/read':
        return this.#client.readResource(params as Parameters<Client['readResource']>[0], fresh);
      case 'prompts/list':
        return this.#client.listPrompts(undefined, fresh);
      case 'prompts/get':
        return this.#client.getPrompt(params as Parameters<Client['getPrompt']>[0], { signal });
      case 'completion/complete':
        return this.#client.complete(params as Parameters<Client['complete']>[0], { signal });
      case undefined:
        throw new RouterError('invalid_request', 'This method does not pass through.', { param: 'input.method' });
    }
  }
}
