import type { Response } from 'express';
import { ProtocolError, ProtocolErrorCode, type CallToolResult, type ContentBlock } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';
import type { ToolCall } from '#shared/formats/tools/tools-format.ts';
import type { ToolProgress, ToolResult } from '#shared/formats/tools/tool-result.ts';
import { pickOrigin } from '#shared/serving/caller.ts';
import { serveTool, type ToolComponents } from '#shared/serving/serve-tool.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { getRequestContext } from '../http/request-context.ts';
import { asRouterError } from '../http/refuse.ts';
import { describeRefusal, type CountRefusal } from '../http/answer-error.ts';
import { mcpFormat } from './mcp-format.ts';
import { throwProtocolError } from './throw-protocol-error.ts';
import { ToolReply } from '#shared/serving/tool-reply.ts';

export interface McpToolParts extends ToolComponents {
  countRefusal: CountRefusal;
}

export interface McpCall extends ToolCall {
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal;
  /** Called with the tool's progress; undefined if the client did not ask for progress. */
  onProgress: ((progress: ToolProgress) => void) | undefined;
  /** Response of the HTTP request that contains the call. */
  response: Response;
  /** Set for a call that goes on without the client, because its answer is kept for others. */
  isShared?: true;
  /** Maximum bytes of the answer. The default is larger than any answer that a worker lets a tool return. */
  maxBytes?: number;
}

/**
 * Runs a tool for an MCP client. Errors that the client's language model can correct or should see (wrong input, a tool that failed or
 * timed out) become results with `isError`. All other errors become protocol errors. A protocol error of the tool's own server is passed on
 * (Model Context Protocol, "Tools: Error Handling").
 * @throws ProtocolError, or the signal's reason
 */
export async function callTool(parts: McpToolParts, call: McpCall): Promise<CallToolResult> {
  try {
    return toMcp(await runTool(parts, call));
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return toErrorResult(error, call.tool);
  }
}

/** @throws RouterError, or the signal's reason */
export async function runTool(
  parts: McpToolParts,
  { tool, input, signal, onProgress, response, isShared, maxBytes }: McpCall,
): Promise<ToolResult> {
  signal.throwIfAborted();
  // The reply sends no keep-alives, because the server of the SDK sends them on its streams.
  const reply = new ToolReply(onProgress, undefined, maxBytes);
  const body = Buffer.from(JSON.stringify({ tool, input }));
  const request = { tool, body, stream: onProgress !== undefined };
  const context = getRequestContext(response);
  let running: RunningRequest | undefined;
  try {
    const caller = isShared ? { ...pickOrigin(context), isGone: () => false } : context;
    running = await serveTool(parts, request, reply, caller);
  } catch (error) {
    // The HTTP request of the call does not end with an error, so its handler would not count the refusal.
    context.requestedName = tool;
    parts.countRefusal(describeRefusal(response, mcpFormat.name, asRouterError(error)));
    throw error;
  }
  if (!running) throw new Error('the client is gone');
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    running.cancel();
    reject(signal.reason);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([reply.result, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Ends a call whose answer could not be read. A finished call is not affected.
    running.cancel();
    await running.finished;
  }
}

/** @throws ProtocolError if the tool's server answered with a protocol error */
function toMcp({
  content,
  is_error: isError,
  structured_content: structuredContent,
  error,
}: ToolResult): CallToolResult {
  if (error) throw new ProtocolError(error.code, error.message, error.data);
  // Content blocks are passed on as the server of the tool sent them.
  const blocks = content as unknown as ContentBlock[];
  return { content: blocks, isError, ...(structuredContent !== undefined && { structuredContent }) };
}

function toErrorResult(error: RouterError, tool: string): CallToolResult {
  switch (error.code) {
    case 'not_found':
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${tool}`);
    case 'invalid_request':
    case 'missing_parameter':
    case 'unsupported_parameter':
    case 'upstream_failed':
    case 'upstream_timeout':
    case 'worker_lost':
    case 'connection_required':
      return { content: [{ type: 'text', text: error.message }], isError: true };
    default:
      return throwProtocolError(error);
  }
}
