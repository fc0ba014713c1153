import type { Client, Tool as McpToolInfo } from '@modelcontextprotocol/client';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { CostlySchemaError } from '#shared/worker/schemas/schema-threads.ts';
import { createSchemaCheck, InvalidSchemaError } from '#shared/worker/schemas/schema-check.ts';
import { createFailedOutput, type Tool, type ToolContext, type ToolOutput } from '../tool.ts';
import { createServerError, toRefusedOutput } from './refused-call.ts';

/** Time limit that the MCP client gets for a call, in milliseconds. It is longer than the time limit of any job. */
const maxCallMs = 24 * 60 * 60_000;

/** A tool of an MCP server. Valid for one connection. */
export class McpTool implements Tool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | undefined;
  readonly annotations: JsonObject | undefined;
  /** Output schema exactly as the server lists it. It may describe a value of any type. */
  readonly #listedOutputSchema: JsonObject | undefined;
  readonly #client: Client;
  readonly #onNoAnswer: () => void;

  /** @param onNoAnswer called when a call fails without an answer of the server */
  constructor(listed: McpToolInfo, client: Client, onNoAnswer: () => void) {
    const { name, title, description, inputSchema, outputSchema, annotations } = listed;
    this.name = name;
    this.title = title ?? annotations?.title;
    this.description = description ?? this.title ?? '';
    // The schemas were parsed from JSON.
    this.inputSchema = inputSchema as JsonObject;
    // Output that is not an object is wrapped in an object, which the server's schema does not describe.
    this.outputSchema = outputSchema?.['type'] === 'object' ? (outputSchema as JsonObject) : undefined;
    this.#listedOutputSchema = outputSchema as JsonObject | undefined;
    this.annotations = annotations;
    this.#client = client;
    this.#onNoAnswer = onNoAnswer;
  }

  /** Calls the tool. When the signal aborts, the client cancels the call at the server. */
  async run(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
    const { signal } = context;
    try {
      const { output, structuredContent } = await callTool(this.#client, this.name, input, context);
      const mismatch = output.isError ? undefined : await this.#findOutputMismatch(structuredContent, context.owner);
      return mismatch === undefined ? output : createFailedOutput(mismatch);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const refusedOutput = toRefusedOutput(error);
      if (refusedOutput) return refusedOutput;
      this.#onNoAnswer();
      throw createServerError(error, `The server of the tool '${this.name}' failed.`, true);
    }
  }

  /** Returns the reason why structured content does not match the schema that the server lists; undefined if it matches. */
  async #findOutputMismatch(
    structuredContent: Json | undefined,
    owner: string | undefined,
  ): Promise<string | undefined> {
    if (!this.#listedOutputSchema || structuredContent === undefined) return undefined;
    try {
      const check = createSchemaCheck({ schema: this.#listedOutputSchema, mustMatchMetaSchema: false });
      const [problem] = await check(structuredContent, JSON.stringify(structuredContent).length, owner);
      if (!problem) return undefined;
      const { instancePath, message = 'is wrong' } = problem;
      return `Structured content does not match the tool's output schema: data${instancePath} ${message}`;
    } catch (error) {
      if (error instanceof InvalidSchemaError) return `Tool '${this.name}' has an invalid outputSchema.`;
      if (error instanceof CostlySchemaError) return "It takes too long to check the tool's output against its schema.";
      throw error;
    }
  }
}

/**
 * Calls a tool. When the signal aborts, the client cancels the call at the server.
 * @returns the output, and the structured content exactly as the server sent it
 * @throws the library's errors
 */
export async function callTool(
  client: Client,
  name: string,
  input: JsonObject,
  { signal, progress }: ToolContext,
): Promise<{ output: ToolOutput; structuredContent: Json | undefined }> {
  const { content, structuredContent, isError } = await client.callTool(
    { name, arguments: input },
    { signal, timeout: maxCallMs, onprogress: progress },
  );
  return {
    output: { content, structuredContent: toObject(structuredContent), isError: isError === true },
    // The structured content was parsed from JSON.
    structuredContent: structuredContent as Json | undefined,
  };
}

/**
 * Converts structured content to an object. The protocol's newest revision allows any JSON value, but the router's API allows only objects.
 */
function toObject(structured: unknown): JsonObject | undefined {
  if (structured === undefined) return undefined;
  return isJsonObject(structured) ? structured : ({ value: structured } as JsonObject);
}
