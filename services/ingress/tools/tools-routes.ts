import { Router, type Request, type Response } from 'express';
import { parseJsonBody } from '#shared/formats/json-request.ts';
import { parseToolCall, toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { createErrorHandler, refuseUnknownPath, refuseMethod, type AnswerErrorParts } from '../http/answer-error.ts';
import { ClientReply } from '../http/client-reply.ts';
import { getRequestContext } from '../http/request-context.ts';
import { requireToolsTier } from '#shared/serving/key-permits.ts';
import { listAllTools, type ListedTool } from '#shared/serving/list-tools.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';
import { requireKey, type RequireKeyParts } from '../http/require-key.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { serveTool, type ToolComponents } from '#shared/serving/serve-tool.ts';
import type { IdempotencyParts } from '../idempotency/idempotency-parts.ts';
import { handleIdempotently } from '../idempotency/handle-idempotently.ts';
import type { AnsweringHandler } from '../idempotency/keyed-request.ts';

export interface ToolsRoutesParts extends ToolComponents, ReceiveParts, AnswerErrorParts, RequireKeyParts {
  unreadOutputs: UnreadOutputs;
  idempotency: IdempotencyParts;
}

/**
 * Creates the routes of the tools API, to be mounted at `/api/tools/v1`. One route lists the tools, the other runs a tool without a
 * language model.
 */
export function createToolsRoutes(parts: ToolsRoutesParts): Router {
  const routes = Router({ caseSensitive: true });
  routes.use(requireKey(parts));
  routes.get('/list', async (_, response) => {
    const context = getRequestContext(response);
    requireToolsTier(context.identity);
    context.format = toolsFormat;
    const listed = await listAllTools(parts, context);
    response.json({ object: 'list', data: listed.map(toToolAnswer) });
  });
  const keyed = {
    format: toolsFormat,
    answerError: createErrorHandler(toolsFormat, parts),
    body: 'whole',
    // A tool may have had effects by the time its client leaves. A second execution would repeat these effects.
    isUncancelled: true,
  } as const;
  routes.post('/execute', handleIdempotently(createExecuteHandler(parts), keyed, parts.idempotency));
  routes.all('/list', refuseMethod('GET', 'HEAD'));
  routes.all('/execute', refuseMethod('POST'));
  routes.use(refuseUnknownPath, createErrorHandler(toolsFormat, parts));
  return routes;
}

function toToolAnswer({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
  server,
  worker,
}: ListedTool) {
  const schemas = { input_schema: inputSchema, output_schema: outputSchema };
  return { name, title, description, ...schemas, annotations, server, worker };
}

function createExecuteHandler(parts: ToolsRoutesParts): AnsweringHandler {
  return async (request, response) => {
    // Only `startTool` has the body in a local variable, because local variables of this handler live as long as the answer.
    const running = await startTool(request, response, parts);
    await running?.finished;
  };
}

async function startTool(
  request: Request,
  response: Response,
  parts: ToolsRoutesParts,
): Promise<RunningRequest | undefined> {
  const body = await receiveBody(request, response, parts);
  if (!body) return undefined;
  const { tool } = parseToolCall(parseJsonBody(body));
  const context = getRequestContext(response);
  context.format = toolsFormat;
  const { requestId, memory } = context;
  const { unreadOutputs } = parts;
  const reply = new ClientReply(response, { format: toolsFormat, requestId, stream: false, unreadOutputs, memory });
  try {
    return reply.follow(await serveTool(parts, { tool, body, stream: false }, reply, context));
  } catch (error) {
    context.requestedName = tool;
    throw error;
  }
}
