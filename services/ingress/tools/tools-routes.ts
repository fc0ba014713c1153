import { Router, type Request, type RequestHandler, type Response } from 'express';
import { parseToolCall } from '#shared/formats/tools/tool-call.ts';
import { answerError, unknownPath, wrongMethod, type AnswerErrorParts } from '../http/answer-error.ts';
import { ClientReply } from '../http/client-reply.ts';
import { dispatchTool, type ToolJob, type ToolParts } from './dispatch-tool.ts';
import { requireToolsTier } from '#shared/serving/key-permits.ts';
import { listTools } from './list-tools.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';
import { requestIdOf } from '../http/request-id.ts';
import { identityOf, requireKey, type RequireKeyParts } from '../http/require-key.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';

export interface ToolsRoutesParts extends ToolParts, ReceiveParts, AnswerErrorParts, RequireKeyParts {}

/** The tools API, mounted at `/api/tools/v1`: what tools there are, and running one without a language model. */
export function toolsRoutes(parts: ToolsRoutesParts): Router {
  const routes = Router();
  routes.use(requireKey(parts));
  routes.get('/list', (_, response) => {
    requireToolsTier(identityOf(response));
    const data = listTools(parts.workers.pools()).map(({ name, description, inputSchema, worker }) => ({
      name,
      description,
      input_schema: inputSchema,
      worker,
    }));
    response.json({ object: 'list', data });
  });
  routes.post('/execute', execute(parts));
  routes.all('/list', wrongMethod('GET', 'HEAD'));
  routes.all('/execute', wrongMethod('POST'));
  routes.use(unknownPath, answerError(toolsFormat, parts));
  return routes;
}

function execute(parts: ToolsRoutesParts): RequestHandler {
  return async (request, response) => {
    // The body stays in there: whatever this function knows lives as long as the answer does.
    const job = await dispatchCall(request, response, parts);
    await job?.finished;
  };
}

async function dispatchCall(
  request: Request,
  response: Response,
  parts: ToolsRoutesParts,
): Promise<ToolJob | undefined> {
  const received = await receiveBody(request, response, parts);
  if (!received) return undefined;
  const { body, parsed, releaseBody } = received;
  const { tool } = parseToolCall(parsed);
  const sink = new ClientReply(response, toolsFormat, requestIdOf(response), false, releaseBody);
  const job = await dispatchTool(parts, { tool, body, stream: false, response }, sink);
  if (job) response.on('close', job.cancel);
  return job;
}
