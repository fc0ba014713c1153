import type { ContentBlock } from '@modelcontextprotocol/client';
import type { JsonObject } from '#shared/core/json.ts';
import type { RpcError, ToolProgress } from '#shared/formats/tools/tool-result.ts';

/** The result of a tool, in the content blocks of the Model Context Protocol. */
export interface ToolOutput {
  content: ContentBlock[];
  /** The same result as data. */
  structuredContent?: JsonObject | undefined;
  /** Whether the tool failed. `content` then gives the reason. */
  isError: boolean;
  /** The JSON-RPC error with which the tool's MCP server answered; absent for other failures. */
  error?: RpcError;
}

export interface ToolContext {
  /** Aborts when the job is cancelled or the tool has run for too long. */
  signal: AbortSignal;
  /** See `GrantedJob.ownerMark`. */
  owner?: string | undefined;
  /** Reports progress to a client that streams the answer. */
  progress: (progress: ToolProgress) => void;
}

export interface Tool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description: string;
  /** JSON Schema of the input, of type object. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of `structuredContent`, of type object. */
  readonly outputSchema?: JsonObject | undefined;
  /** Effects that the tool declares (Model Context Protocol, "Tool annotations"). */
  readonly annotations?: JsonObject | undefined;
  /**
   * Runs the tool with an input that matches the schema. A failure of the tool itself is part of the output.
   * @throws RouterError for any other failure
   * @throws the signal's reason
   */
  run(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
}

export function createFailedOutput(message: string): ToolOutput {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** Formats a path in a tool's input for an error, such as `input.items[0].name`. */
export function formatInputPath(steps: readonly PropertyKey[]): string {
  const path = steps.map((step) => (isIndex(step) ? `[${String(step)}]` : `.${String(step)}`));
  return `input${path.join('')}`;
}

function isIndex(step: PropertyKey): boolean {
  return typeof step === 'number' || (typeof step === 'string' && /^\d+$/.test(step));
}
