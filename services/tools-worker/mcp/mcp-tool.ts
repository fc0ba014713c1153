import { ProtocolError, type Client, type Tool as McpToolInfo } from '@modelcontextprotocol/client';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { failedOutput, type Tool, type ToolContext, type ToolOutput } from '../tool.ts';

/** The client's own limit of a call's time. The job's is meant to come first. */
const longestCallMs = 24 * 60 * 60_000;

/** A tool of an MCP server, as long as the connection lasts over which it was listed. */
export class McpTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly #client: Client;
  readonly #onTrouble: () => void;

  /** @param onTrouble called when the server could not be spoken with */
  constructor({ name, title, description, inputSchema }: McpToolInfo, client: Client, onTrouble: () => void) {
    this.name = name;
    this.description = description ?? title ?? '';
    // What came as JSON holds nothing but JSON.
    this.inputSchema = inputSchema as JsonObject;
    this.#client = client;
    this.#onTrouble = onTrouble;
  }

  /** When the signal aborts, the client tells the server that the call is cancelled. */
  async run(input: JsonObject, { signal, progress }: ToolContext): Promise<ToolOutput> {
    try {
      const { content, structuredContent, isError } = await this.#client.callTool(
        { name: this.name, arguments: input },
        { signal, timeout: longestCallMs, onprogress: progress },
      );
      return { content, structuredContent: asObject(structuredContent), isError: isError === true };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // The server answered, only not with a result.
      if (error instanceof ProtocolError) return failedOutput(error.message);
      this.#onTrouble();
      throw new RouterError('upstream_failed', `The server of the tool '${this.name}' failed.`, { cause: error });
    }
  }
}

/** The protocol's newest revision lets structured content be any JSON value; the API has objects. */
function asObject(structured: unknown): JsonObject | undefined {
  if (structured === undefined) return undefined;
  const isObject = typeof structured === 'object' && structured !== null && !Array.isArray(structured);
  return (isObject ? structured : { value: structured }) as JsonObject;
}
