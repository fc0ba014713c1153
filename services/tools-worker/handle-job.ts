import type { JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import { computeTextMemory } from '#shared/core/text-memory.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import { noUsage } from '#shared/core/usage.ts';
import { parseToolCall, type ToolCall } from '#shared/formats/tools/tools-format.ts';
import { encodeToolEvent, type ToolResult } from '#shared/formats/tools/tool-result.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import type { LinkedServers } from './mcp/linked-servers.ts';
import { createFailedOutput, type Tool, type ToolOutput } from './tool.ts';
import type { ToolSet } from './tool-set.ts';

export interface HandleJobOptions {
  tools: Pick<ToolSet, 'get' | 'findCheck'>;
  /** The MCP servers that are called with people's MCP account links. These servers check the input themselves. */
  linkedServers: Pick<LinkedServers, 'findRun'>;
  /** Timeout of a tool, in milliseconds. */
  timeoutMs: number;
  /** Maximum bytes of memory for the texts of one call, see `computeTextMemory`. */
  maxCallBytes: number;
  /** Maximum bytes of one tool's output. */
  maxOutputBytes: number;
}

const emptyEnd: JobEnd = { usage: noUsage, finishReason: 'stop' };

/** Creates the handler that checks a tool's input, runs the tool within its timeout, and answers with the tool's output. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { tools, linkedServers, timeoutMs, maxCallBytes, maxOutputBytes } = options;
  return async function handleJob(job, reply, signal) {
    const { length: bytes } = job.body;
    const { ownerMark: owner } = job;
    if (computeTextMemory(job.body) > maxCallBytes)
      throw new RouterError('body_too_large', 'The call has more text than the worker has memory for.');
    const call = parseToolCall(readRequest(job).request);
    const runTool = job.connection
      ? linkedServers.findRun(job.connection)
      : await checkInput(tools, call, bytes, owner);
    const progress = job.stream ? createProgressWriter(reply) : () => undefined;
    const run = () =>
      runWithinTime(timeoutMs, signal, (abortOrTimeout) =>
        runTool(call.input, { signal: abortOrTimeout, owner, progress }),
      );
    const output = await (job.trace ? traceRun(job.trace, call.tool, run) : run());
    const result = toResult(call.tool, output, maxOutputBytes);
    reply.write(job.stream ? encodeToolEvent({ result }) : JSON.stringify(result));
    return emptyEnd;
  };
}

/** Checks the input against the tool's schema, and returns the function that runs the tool. */
async function checkInput(
  tools: HandleJobOptions['tools'],
  call: ToolCall,
  bytes: number,
  owner: string | undefined,
): Promise<Tool['run']> {
  const tool = tools.get(call.tool);
  await tools.findCheck(tool)(call.input, bytes, owner);
  return (input, context) => tool.run(input, context);
}

/** Records the span of one run of a tool (OpenTelemetry, "Execute tool span"), without input and output. */
async function traceRun(parent: TraceSpan, tool: string, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
  const attributes = { [names.operation]: 'execute_tool', [names.toolName]: tool };
  const span = parent.child(`execute_tool ${tool}`, 'internal', { attributes });
  try {
    const output = await run();
    if (output.isError) span.fail('tool_error');
    return output;
  } catch (error) {
    span.fail(error instanceof RouterError ? error.code : '_OTHER');
    throw error;
  } finally {
    span.end();
  }
}

function createProgressWriter(reply: Reply): (progress: { progress: number }) => void {
  return (progress) => reply.write(encodeToolEvent({ progress }));
}

/**
 * Runs a tool, and waits for it until the timeout. A tool that ignores its signal keeps running, but its result is discarded.
 * @throws RouterError `upstream_timeout`
 * @throws the signal's reason
 */
async function runWithinTime<T>(ms: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const abortOrTimeout = AbortSignal.any([signal, timeout.signal]);
  const timer = setTimeout(() => {
    const message = `The tool gave no result within ${ms / 1000} seconds.`;
    timeout.abort(new RouterError('upstream_timeout', message, { hadEffects: true }));
  }, ms);
  const { promise: whenAborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortOrTimeout.reason);
  abortOrTimeout.addEventListener('abort', onAbort, { once: true });
  try {
    abortOrTimeout.throwIfAborted();
    return await Promise.race([run(abortOrTimeout), whenAborted]);
  } finally {
    clearTimeout(timer);
    abortOrTimeout.removeEventListener('abort', onAbort);
  }
}

function toResult(tool: string, output: ToolOutput, maxBytes: number): ToolResult {
  const result = encodeResult(tool, output);
  if (Buffer.byteLength(JSON.stringify(result)) <= maxBytes) return result;
  return encodeResult(tool, createFailedOutput(`The tool's output is larger than ${maxBytes} bytes.`));
}

function encodeResult(tool: string, { isError, content, structuredContent, error }: ToolOutput): ToolResult {
  return {
    tool,
    is_error: isError,
    content,
    ...(structuredContent !== undefined && { structured_content: structuredContent }),
    ...(error && { error }),
  };
}
