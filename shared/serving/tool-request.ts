/** A tool call, from the tools API, from MCP, or from a hosted tool. */
export interface ToolRequest {
  tool: string;
  /** The call in the worker's format: `{tool, input}`. */
  body: Buffer;
  /** Whether the answer is a stream of events with progress. */
  stream: boolean;
}
