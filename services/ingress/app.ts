import express, { type Express, type RequestHandler } from 'express';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { allowOrigins } from './http/allow-origins.ts';
import type { ArrivingBodies } from './http/arriving-bodies.ts';
import { createErrorHandler, refuseUnknownPath } from './http/answer-error.ts';
import type { DirectRoute } from './http/direct-routes.ts';
import { endSlowBody } from './http/end-slow-body.ts';
import { answerHealth } from './http/health.ts';
import { refuseMisplacedPath } from './http/refuse-misplaced-path.ts';
import type { OpenRequests } from './http/open-requests.ts';
import { sendJson } from './http/send-json.ts';
import { refuseUpgrade } from './http/refuse-upgrade.ts';
import { assignRequestId } from './http/request-id.ts';
import { traceRequests } from './http/trace-request.ts';
import { answerAddressList } from './http/address-list.ts';
import { createMcpRoutes, type McpRoutesParts } from './mcp/mcp-routes.ts';
import { createApiRoutes, listGenerateRoutes, type ApiRoutesParts } from './routing/api-routes.ts';
import { createMetadataHandler, metadataPath } from './sign-in/authorization-server-metadata.ts';
import { createOAuthRoutes, type OAuthRoutesParts } from './sign-in/oauth-routes.ts';
import { createToolsRoutes } from './tools/tools-routes.ts';

/** Largest request body of the console in bytes. */
const consoleBodyBytes = 64 * 1024;
/** Largest request body of the Admin API in bytes. It is larger than for the console, because the registry is sent there. */
const adminBodyBytes = 1024 * 1024;

export interface AppParts extends ApiRoutesParts, McpRoutesParts {
  openRequests: OpenRequests;
  /** Undefined if tracing is off. */
  tracing: Tracing | undefined;
  /** The client formats to serve. Errors of paths that belong to no format are written in the first format. */
  formats: readonly [ClientFormat, ...ClientFormat[]];
  /** Returns the path segment of an API: `/api/<segment>`. */
  getSegment: (api: ClientApi) => string;
  /** Serves the pages of the web console, at every path outside the APIs. */
  pages: RequestHandler;
  /** Proxies whose `X-Forwarded-*` headers are trusted, see `toTrustProxySetting`. */
  trustedProxies: readonly string[] | number;
  consoleApi: RequestHandler;
  adminApi: RequestHandler;
  arrivingBodies: ArrivingBodies;
  signIn: OAuthRoutesParts;
  store: { isLost: boolean; assertIntact(): void };
  /** URL at which people reach the router; if undefined, the URL of each request is used. */
  publicUrl: string | undefined;
}

/** Creates the app, and lists the routes that are served without it. */
export function createApp(parts: AppParts): { app: Express; directRoutes: DirectRoute[] } {
  const { formats, corsOrigins, arrivingBodies } = parts;
  const apis = Array.from(new Set(formats.map(({ api }) => api)), (api) => ({
    name: api.segment,
    path: getBasePath(api),
  }));
  const app = express();
  // By default, Express ignores case. A path such as `/API/admin/v1` would then pass a proxy that has a rule for `/api/admin/v1`.
  app.enable('case sensitive routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', parts.trustedProxies);
  // The console and the Admin API also call `response.json`.
  app.response.json = function json(value: object) {
    sendJson(this, value, parts.unreadOutputs);
    return this;
  };
  const firstHandlers: RequestHandler[] = [parts.openRequests.track, assignRequestId];
  app.use(firstHandlers);
  const requireStore: RequestHandler = (_request, _response, next) => {
    parts.store.assertIntact();
    next();
  };
  const endIfSlow = endSlowBody(parts.bodyTimeoutMs);
  // The Admin API is mounted before the CORS headers, because it is not for browsers.
  app.use('/api/admin/v1', requireStore, endIfSlow, arrivingBodies.createHandler(adminBodyBytes), parts.adminApi);
  // The console gets no CORS headers, because its pages have the same origin.
  const apiHandlers: RequestHandler[] = [
    ...(corsOrigins.length > 0 ? [allowOrigins(corsOrigins)] : []),
    refuseUpgrade,
    ...(parts.tracing ? [traceRequests(parts.tracing)] : []),
  ];
  app.use('/api', apiHandlers);
  app.use(refuseUpgrade);
  const directRoutes: DirectRoute[] = [];
  for (const format of formats) {
    for (const { path, handlers, answerError } of listGenerateRoutes(getBasePath(format.api), format, parts)) {
      app.post(path, handlers, answerError);
      directRoutes.push({ path, handlers: [...firstHandlers, ...apiHandlers, ...handlers], answerError });
    }
  }
  for (const [api, apiFormats] of Map.groupBy(formats, (format) => format.api)) {
    const [first, ...others] = apiFormats;
    app.use(getBasePath(api), createOAuthRoutes(getBasePath(api), apis, parts.signIn));
    app.get(`${metadataPath}${getBasePath(api)}`, createMetadataHandler(getBasePath(api), apis, parts.publicUrl));
    if (first) app.use(getBasePath(api), createApiRoutes(api, [first, ...others], parts));
    for (const [path, greeting] of Object.entries(api.greetings ?? {})) {
      app.get(path, (_, response) => void response.json(greeting));
    }
  }
  app.use('/api/tools/v1', createToolsRoutes(parts));
  app.use('/api/tools/mcp', createMcpRoutes(parts));
  app.get('/health', answerHealth(parts));
  app.use(createOAuthRoutes('', apis, parts.signIn));
  app.use('/console/api', requireStore, endIfSlow, arrivingBodies.createHandler(consoleBodyBytes), parts.consoleApi);
  for (const [api, apiFormats] of Map.groupBy(formats, (format) => format.api)) {
    const [first = formats[0]] = apiFormats;
    const paths = ['/models', ...apiFormats.flatMap(({ routes }) => routes.map(({ path }) => path))];
    for (const prefix of api.prefixes.filter((each) => each !== '')) {
      app.use(prefix, refuseMisplacedPath({ base: getBasePath(api), paths }), createErrorHandler(first, parts));
    }
  }
  app.get('/', answerAddressList(parts.publicUrl, apis));
  app.use(parts.pages);
  app.use(refuseUnknownPath, createErrorHandler(formats[0], parts));
  return { app, directRoutes };

  function getBasePath(api: ClientApi): string {
    return `/api/${parts.getSegment(api)}`;
  }
}
