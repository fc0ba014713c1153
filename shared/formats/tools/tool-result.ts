import { z } from 'zod';
import { parseAnswer } from '#shared/core/has-more-values.ts';

/** One block of a tool's output: text, an image, audio or a resource (Model Context Protocol, "Tool Result"). */
const contentBlock = z.looseObject({ type: z.string() });

/** An error in the answer of an MCP server (JSON-RPC 2.0, "Error object"). */
const rpcError = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

export type RpcError = z.output<typeof rpcError>;

const toolResult = z.object({
  tool: z.string(),
  /** Whether the tool ran and failed; `content` then contains the reason. */
  is_error: z.boolean(),
  content: z.array(contentBlock),
  /** The output as data; absent if the tool returns no data. */
  structured_content: z.record(z.string(), z.unknown()).optional(),
  /** The error that the tool's MCP server returned in place of a result. */
  error: rpcError.optional(),
});

/** The answer to a tool call, as clients of the tools API receive it. */
export type ToolResult = z.output<typeof toolResult>;

/** The progress of a running tool. `total` is absent if it is unknown. */
const toolProgress = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });

export type ToolProgress = z.output<typeof toolProgress>;

/** One line of a streamed answer: any number of progress reports, then the result. */
const toolEvent = z.union([z.object({ progress: toolProgress }), z.object({ result: toolResult })]);

export type ToolEvent = z.output<typeof toolEvent>;

/** Writes one event of a streamed answer. Clients never receive these events, because the ingress translates them to MCP. */
export function encodeToolEvent(event: ToolEvent): string {
  return `${JSON.stringify(event)}\n`;
}

/**
 * Reads an answer that is not streamed.
 * @throws if the answer is malformed
 */
export function decodeToolResult(text: Buffer): ToolResult {
  return toolResult.parse(parseAnswer(text));
}

/**
 * Reads one line of a streamed answer.
 * @throws if the line is malformed
 */
export function decodeToolEvent(line: Buffer): ToolEvent {
  return toolEvent.parse(parseAnswer(line));
}
