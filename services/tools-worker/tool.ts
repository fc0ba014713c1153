import type { ContentBlock } from '@modelcontextprotocol/client';
import type { JsonObject } from '#shared/core/json.ts';
import type { ToolProgress } from '#shared/formats/tools/tool-result.ts';

/** What a tool says when it is done, in the blocks of the Model Context Protocol. */
export interface ToolOutput {
  content: ContentBlock[];
  /** The same as data. */
  structuredContent?: JsonObject | undefined;
  /** The tool failed; `content` says why. */
  isError: boolean;
}

/** What a running tool is given besides its input. */
export interface ToolContext {
  /** Aborts when nobody waits for the result any more, or its time is up. */
  signal: AbortSignal;
  /** Tells how far it has come. Callers that did not ask never hear of it. */
  progress: (progress: ToolProgress) => void;
}

/** Something that can be run by name, wherever it comes from. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, of type object. */
  readonly inputSchema: JsonObject;
  /**
   * Runs it. The input has passed the schema.
   * A tool that fails says so in its output; it throws only what is no fault of its own (RouterError, an aborted signal).
   */
  run(input: JsonObject, context: ToolContext): Promise<ToolOutput>;
}

/** The output of a tool that failed. */
export function failedOutput(message: string): ToolOutput {
  return { content: [{ type: 'text', text: message }], isError: true };
}
