import { z } from 'zod';

/** One block of what a tool says: text, an image, audio or a resource (Model Context Protocol, "Tool Result"). */
const contentBlock = z.looseObject({ type: z.string() });

const toolResult = z.object({
  tool: z.string(),
  /** The tool ran and failed; `content` says why. */
  is_error: z.boolean(),
  content: z.array(contentBlock),
  /** The same as data, where the tool gives it. */
  structured_content: z.record(z.string(), z.unknown()).optional(),
});

/** The answer to a call of a tool, as clients of the tools API get it. */
export type ToolResult = z.output<typeof toolResult>;

/** How far a tool has come, from time to time; `total` where it is known. */
const toolProgress = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });

export type ToolProgress = z.output<typeof toolProgress>;

/** One line of a streamed answer: progress any number of times, then the result. */
const toolEvent = z.union([z.object({ progress: toolProgress }), z.object({ result: toolResult })]);

export type ToolEvent = z.output<typeof toolEvent>;

/** Writes one event of a streamed answer. Streamed answers never leave the cluster: the ingress turns them into MCP's. */
export function encodeToolEvent(event: ToolEvent): string {
  return `${JSON.stringify(event)}\n`;
}

/** Reads an answer that is not streamed. @throws when a worker sent something else */
export function decodeToolResult(text: string): ToolResult {
  return toolResult.parse(JSON.parse(text));
}

/** Reads one line of a streamed answer. @throws when a worker sent something else */
export function decodeToolEvent(line: string): ToolEvent {
  return toolEvent.parse(JSON.parse(line));
}
