import { Router, type Express, type Request, type Response } from 'express';
import { McpAccountLinkStore } from '#shared/accounts/connections/mcp-account-link-store.ts';
import { createMcpAccountLinks } from '#shared/connections/create-mcp-account-links.ts';
import { parseJsonBody } from '#shared/formats/json-request.ts';
import { parseToolCall, toolsFormat } from '#shared/formats/tools/tools-format.ts';
import type { IngressContext } from '../context.ts';
import { createErrorHandler, refuseUnknownPath, refuseMethod } from '../http/answer-error.ts';
import { ClientReply } from '../http/client-reply.ts';
import { getRequestContext } from '../http/request-context.ts';
import { requireToolsTier } from '#shared/serving/key-permits.ts';
import { listAllTools, type ListedTool } from '#shared/serving/list-tools.ts';
import { receiveBody } from '../http/receive-body.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { requireKey } from '../http/require-key.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { serveTool } from '#shared/serving/serve-tool.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import type { AnsweringHandler } from '../idempotency/keyed-request.ts';

/** Opens the links of people to the MCP servers of the registry, and the look-up of their tools. */
export function openToolLinks({ config, prefix, environment, serving, log, releases }: IngressContext) {
  const { redis, ownerKeys: keys, reportUnreadable: report, registry } = serving;
  return createMcpAccountLinks({
    store: new McpAccountLinkStore(redis.redis, prefix, { keys, report }),
    registry: () => registry.current(),
    environment,
    networks: config.OAUTH_NETWORKS,
    publicUrl: config.PUBLIC_URL,
    log,
    releases,
  });
}

/** Creates the routes of the tools API. One route lists the tools, the other runs a tool without a language model. */
export function createToolsRoutes(parts: RequestParts, handleKeyed: HandleKeyed) {
  const routes = Router({ caseSensitive: true });
  routes.use(requireKey(parts));
  routes.get('/list', async (_, response) => {
    const context = getRequestContext(response);
    requireToolsTier(context.identity);
    context.format = toolsFormat;
    const listed = await listAllTools(parts, context);
    response.json({ object: 'list', data: listed.map(toToolAnswer) });
  });
  // A tool may have had effects by the time its client leaves. A second execution would repeat these effects.
  routes.post('/execute', handleKeyed(toolsFormat, 'whole', createExecuteHandler(parts)));
  routes.all('/list', refuseMethod('GET', 'HEAD'));
  routes.all('/execute', refuseMethod('POST'));
  routes.use(refuseUnknownPath, createErrorHandler(toolsFormat, parts));
  return (app: Express): void => void app.use('/api/tools/v1', routes);
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

function createExecuteHandler(parts: RequestParts): AnsweringHandler {
  return async (request, response) => {
    // Only `startTool` has the body in a local variable, because local variables of this handler live as long as the answer.
    const running = await startTool(request, response, parts);
    await running?.finished;
  };
}

async function startTool(
  request: Request,
  response: Response,
  parts: RequestParts,
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
