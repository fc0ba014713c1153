import { Router } from 'express';
import { answerError, type AnswerErrorParts } from '../answer-error.ts';
import { parseBody, type ReadBody } from '../read-body.ts';
import { requireKey, type VerifyKey } from '../require-key.ts';
import { mcpFormat } from './mcp-format.ts';
import { requireOrigin } from './require-origin.ts';
import type { ToolsMcp } from './tools-mcp.ts';

export interface McpRoutesParts extends AnswerErrorParts {
  verifyKey: VerifyKey;
  readBody: ReadBody;
  mcp: ToolsMcp;
  /** Hosts of web pages that may use the endpoint, besides those of this machine. */
  allowedOrigins: readonly string[];
}

/** The tools as an MCP server, mounted at `/api/tools/mcp` (Model Context Protocol, "Streamable HTTP"). */
export function mcpRoutes(parts: McpRoutesParts): Router {
  const { verifyKey, readBody, mcp, allowedOrigins } = parts;
  const routes = Router();
  routes.use(requireOrigin(allowedOrigins));
  routes.use(requireKey(verifyKey));
  routes.all('/', async (request, response) => {
    const body = request.method === 'POST' ? parseBody(await readBody(request, response)) : undefined;
    if (!response.destroyed) await mcp.serve(request, response, body);
  });
  routes.use(answerError(mcpFormat, parts));
  return routes;
}
