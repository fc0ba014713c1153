import type { JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import { noUsage } from '#shared/core/usage.ts';
import { parseToolCall, type ToolCall } from '#shared/formats/tools/tool-call.ts';
import { encodeToolEvent, type ToolResult } from '#shared/formats/tools/tool-result.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import type { LinkedServers } from './mcp/linked-servers.ts';
import { failedOutput, type Tool, type ToolOutput } from './tool.ts';
import type { ToolSet } from './tool-set.ts';

export interface HandleJobOptions {
  tools: Pick<ToolSet, 'get' | 'checkOf'>;
  /** The MCP servers that are called with people's MCP account links. These servers check the input themselves. */
  connected: Pick<LinkedServers, 'run'>;
  /** Timeout of a tool, in milliseconds. */
  timeoutMs: number;
  /** Maximum bytes of one tool's output. */
  maxOutputBytes: number;
}

const done: JobEnd = { usage: noUsage, finishReason: 'stop' };

/** Creates the handler that runs tools. It checks the input, runs the tool within its timeout, and answers. */
export function createHandleJob({ tools, connected, timeoutMs, maxOutputBytes }: HandleJobOptions): JobHandler {
  return async function handleJob(job, reply, signal) {
    const { length: bytes } = job.body;
    const call = parseToolCall(readRequest(job).request);
    const runTool = job.connection ? connected.run(job.connection) : await checked(tools, call, bytes);
    const progress = job.stream ? progressTo(reply) : () => undefined;
    const run = () => withinTime(timeoutMs, signal, (inTime) => runTool(call.input, { signal: inTime, progress }));
    const output = await (job.trace ? traced(job.trace, call.tool, run) : run());
    const result = resultOf(call.tool, output, maxOutputBytes);
    reply.write(job.stream ? encodeToolEvent({ result }) : JSON.stringify(result));
    return done;
  };
}

/** Checks the input against the tool's schema, and returns the function that runs the tool. */
async function checked(tools: HandleJobOptions['tools'], call: ToolCall, bytes: number): Promise<Tool['run']> {
  const tool = tools.get(call.tool);
  await tools.checkOf(tool)(call.input, bytes);
  return (input, context) => tool.run(input, context);
}

/** Records the span of one run of a tool (OpenTelemetry, "Execute tool span"), without input and output. */
async function traced(parent: TraceSpan, tool: string, run: () => Promise<ToolOutput>): Promise<ToolOutput> {
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

function progressTo(reply: Reply): (progress: { progress: number }) => void {
  return (progress) => reply.write(encodeToolEvent({ progress }));
}

/**
 * Runs a tool, and waits for it until the timeout. A tool that ignores its signal keeps running, but its result is discarded.
 * @throws RouterError `upstream_timeout`
 * @throws the signal's reason
 */
async function withinTime<T>(ms: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const time = new AbortController();
  const inTime = AbortSignal.any([signal, time.signal]);
  const timer = setTimeout(() => {
    const message = `The tool gave no result within ${ms / 1000} seconds.`;
    time.abort(new RouterError('upstream_timeout', message, { hadEffects: true }));
  }, ms);
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(inTime.reason);
  inTime.addEventListener('abort', onAbort, { once: true });
  try {
    inTime.throwIfAborted();
    return await Promise.race([run(inTime), ended]);
  } finally {
    clearTimeout(timer);
    inTime.removeEventListener('abort', onAbort);
  }
}

function resultOf(tool: string, output: ToolOutput, maxBytes: number): ToolResult {
  const result = encode(tool, output);
  if (Buffer.byteLength(JSON.stringify(result)) <= maxBytes) return result;
  return encode(tool, failedOutput(`The tool's output is larger than ${maxBytes} bytes.`));
}

function encode(tool: string, { isError, content, structuredContent, error }: ToolOutput): ToolResult {
  return {
    tool,
    is_error: isError,
    content,
    ...(structuredContent !== undefined && { structured_content: structuredContent }),
    ...(error && { error }),
  };
}
