import { Router } from 'express';
import { parseJsonBody } from '#shared/formats/json-request.ts';
import { answerError, type AnswerErrorParts } from '../http/answer-error.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';
import { requireKey, type RequireKeyParts } from '../http/require-key.ts';
import { mcpFormat } from './mcp-format.ts';
import { requireOrigin } from './require-origin.ts';
import type { ToolsMcp } from './tools-mcp.ts';

export interface McpRoutesParts extends ReceiveParts, AnswerErrorParts, RequireKeyParts {
  mcp: ToolsMcp;
  /** Hosts of web pages that may use the endpoint, besides those of this machine. */
  mcpOrigins: readonly string[];
}

/** The tools as an MCP server, mounted at `/api/tools/mcp` (Model Context Protocol, "Streamable HTTP"). */
export function mcpRoutes(parts: McpRoutesParts): Router {
  const { mcp, mcpOrigins } = parts;
  const routes = Router();
  routes.use(requireOrigin(mcpOrigins));
  routes.use(requireKey(parts));
  routes.post('/', async (request, response) => {
    const received = await receiveBody(request, response, parts);
    if (received) await mcp.serve(request, response, parseJsonBody(received.body));
  });
  // What else the protocol knows, and what it does not, is for its own server to answer.
  routes.all('/', (request, response) => mcp.serve(request, response, undefined));
  routes.use(answerError(mcpFormat, parts));
  return routes;
}
