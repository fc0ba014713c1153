import express, { type Express, type RequestHandler } from 'express';
import { answerError, unknownPath, type AnswerErrorParts } from './http/answer-error.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { chatCompletions, chatRoutes } from './routing/chat-routes.ts';
import { answerHealth, type HealthParts } from './http/health.ts';
import { mcpRoutes, type McpRoutesParts } from './mcp/mcp-routes.ts';
import { createMessage, messagesRoutes } from './routing/messages-routes.ts';
import type { OpenRequests } from './http/open-requests.ts';
import { assignRequestId } from './http/request-id.ts';
import type { RequireKeyParts } from './http/require-key.ts';
import type { ServeParts } from './routing/serve.ts';
import { toolsRoutes } from './tools/tools-routes.ts';
import { traceRequests } from './http/trace-request.ts';

export interface AppParts extends ServeParts, HealthParts, McpRoutesParts, AnswerErrorParts, RequireKeyParts {
  open: OpenRequests;
  /** Traces, when requests are traced. */
  tracing: Tracing | undefined;
  /** Path segments of the formats: `/api/<segment>`. */
  segments: { chat: string; messages: string };
  /** The web console: what is asked for at no path of the API. */
  pages: RequestHandler;
  /** Proxies that are believed who the client is and how it has connected. */
  trustedProxies: readonly string[];
  consoleApi: RequestHandler;
}

/** The route table of the ingress. */
export function createApp(parts: AppParts): Express {
  const { chat, messages } = parts.segments;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', parts.trustedProxies);
  app.use(parts.open.follow, assignRequestId);
  if (parts.tracing) app.use('/api', traceRequests(parts.tracing));
  // The busiest paths stand by themselves and ahead of all others, also of those that refuse other methods there: each
  // router and route that a request is led through or past takes its share of what the request costs.
  const chatBases = [`/api/${chat}/v1`, `/api/${chat}`];
  for (const base of chatBases) app.post(`${base}/chat/completions`, chatCompletions(parts));
  app.post(`/api/${messages}/v1/messages`, createMessage(parts));
  app.use(chatBases, chatRoutes(parts));
  app.use(`/api/${messages}`, messagesRoutes(parts));
  app.use('/api/tools/v1', toolsRoutes(parts));
  app.use('/api/tools/mcp', mcpRoutes(parts));
  app.get('/health', answerHealth(parts));
  app.use('/console/api', parts.consoleApi);
  app.use(parts.pages);
  app.use(unknownPath, answerError(chatFormat, parts));
  return app;
}
