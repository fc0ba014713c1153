import { Router, type Express, type Request, type RequestHandler, type Response } from 'express';
import { computeTextMemory } from '#shared/core/text-memory.ts';
import { parseJsonBody } from '#shared/formats/json-request.ts';
import type { IngressContext } from '../context.ts';
import { createErrorHandler, refuseMethod } from '../http/answer-error.ts';
import { receiveBody } from '../http/receive-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { requireKey } from '../http/require-key.ts';
import { mcpFormat, createMcpFormat } from './mcp-format.ts';
import { createToolsMcp } from './tools-mcp.ts';
import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';

/** Opens the MCP server for tools, with its routes (Model Context Protocol, "Streamable HTTP"). */
export function openMcp({ config, releases }: IngressContext, parts: RequestParts) {
  const mcp = createToolsMcp(parts, parts.unreadOutputs, parts.log);
  releases.add('MCP', () => mcp.close());
  const routes = Router({ caseSensitive: true });
  routes.use(requireOrigin(config.CORS_ORIGINS));
  routes.use(requireKey(parts));
  routes.post('/', async (request, response, next) => {
    const message = await receiveMessage(request, response, parts);
    if (message === undefined) return;
    try {
      await mcp.serve(request, response, message);
    } catch (error) {
      createErrorHandler(createMcpFormat(message), parts)(error, request, response, next);
    }
  });
  routes.get('/', (request, response, next) => {
    if (!mcp.openNotices(request, response)) next();
  });
  // Other methods are refused here, because the SDK would first read their bodies. There are no sessions that DELETE could end.
  routes.all('/', refuseMethod('GET', 'POST'));
  routes.use(createErrorHandler(mcpFormat, parts));
  return {
    addRoutes: (app: Express): void => void app.use('/api/tools/mcp', routes),
    stopListening: () => mcp.stopListening(),
  };
}

/**
 * Receives and parses a message. Reserves memory for the parsed message, which is kept as long as its answer takes, and for
 * the call that is written for a worker.
 * @returns undefined if the client disconnects meanwhile
 * @throws RouterError as `receiveBody` and `parseJsonBody` do
 */
async function receiveMessage(request: Request, response: Response, parts: RequestParts): Promise<unknown> {
  const body = await receiveBody(request, response, parts);
  if (!body) return undefined;
  getRequestContext(response).memory.grow(2 * computeTextMemory(body));
  return parseJsonBody(body);
}

/**
 * Refuses requests from web pages whose origin is neither listed nor this machine, because a page could point its own host name at this
 * machine and then call it (DNS rebinding; Model Context Protocol, "Streamable HTTP: Security Warning"). Only browsers send the header
 * `Origin`. The value `*` of `CORS_ORIGINS` does not admit all pages here, only those that are named beside it.
 */
function requireOrigin(origins: readonly string[]): RequestHandler {
  const ownHosts = localhostAllowedOrigins();
  return (request, _, next) => {
    const origin = request.get('origin');
    if (!(origin !== undefined && origins.includes(origin)) && !validateOriginHeader(origin, ownHosts).ok) {
      throw new RouterError('permission_denied', 'Web pages of this origin may not use the tools.');
    }
    next();
  };
}
