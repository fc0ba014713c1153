import express, { type Express, type RequestHandler } from 'express';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { IngressContext } from './context.ts';
import { answerAddressList } from './http/address-list.ts';
import { allowOrigins } from './http/allow-origins.ts';
import { createErrorHandler, refuseUnknownPath, type AnswerErrorParts } from './http/answer-error.ts';
import type { DirectRoute } from './http/direct-routes.ts';
import { endSlowBody } from './http/end-slow-body.ts';
import { answerHealth } from './http/health.ts';
import { refuseMisplacedPath, refuseUpgrade } from './http/refuse-paths.ts';
import { assignRequestId } from './http/request-id.ts';
import { sendJson } from './http/send-json.ts';
import { traceRequests } from './http/trace-request.ts';
import { toTrustProxySetting } from './http/trusted-proxies.ts';
import type { GenerateRoute } from './routing/api-routes.ts';

/** Largest request body of the console in bytes. */
const consoleBodyBytes = 64 * 1024;
/** Largest request body of the Admin API in bytes. It is larger than for the console, because the registry is sent there. */
const adminBodyBytes = 1024 * 1024;

/** Adds the routes of a feature to the app. */
export type AddRoutes = (app: Express) => void;

export interface AppFeatures extends AnswerErrorParts {
  /** The web console. Its pages are served at every path outside the APIs. */
  console: Readonly<Record<'api' | 'adminApi' | 'pages', RequestHandler>>;
  generateRoutes: readonly GenerateRoute[];
  /** The routes of all other features, in the order in which they are mounted. */
  routes: readonly AddRoutes[];
}

/**
 * Creates the app, and lists the routes that are served without it. Errors of paths that belong to no format are written in the first
 * format.
 */
export function createApp(
  {
    config,
    serving,
    tracing,
    openRequests,
    arrivingBodies,
    unreadOutputs,
    getBasePath,
    apis,
    readHealth,
  }: IngressContext,
  features: AppFeatures,
): { app: Express; directRoutes: DirectRoute[] } {
  const { console } = features;
  const app = express();
  // By default, Express ignores case. A path such as `/API/admin/v1` would then pass a proxy that has a rule for `/api/admin/v1`.
  app.enable('case sensitive routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', toTrustProxySetting(config.TRUSTED_PROXIES));
  // The console and the Admin API also call `response.json`.
  app.response.json = function json(value: object) {
    sendJson(this, value, unreadOutputs);
    return this;
  };
  const firstHandlers: RequestHandler[] = [openRequests.track, assignRequestId];
  app.use(firstHandlers);
  const requireStore: RequestHandler = (_request, _response, next) => {
    serving.store.assertIntact();
    next();
  };
  const endIfSlow = endSlowBody(config.BODY_TIMEOUT_MS);
  // The Admin API is mounted before the CORS headers, because it is not for browsers.
  app.use('/api/admin/v1', requireStore, endIfSlow, arrivingBodies.createHandler(adminBodyBytes), console.adminApi);
  // The console gets no CORS headers, because its pages have the same origin.
  const apiHandlers: RequestHandler[] = [
    ...(config.CORS_ORIGINS.length > 0 ? [allowOrigins(config.CORS_ORIGINS)] : []),
    refuseUpgrade,
    ...(tracing ? [traceRequests(tracing)] : []),
  ];
  app.use('/api', apiHandlers);
  app.use(refuseUpgrade);
  const directRoutes = features.generateRoutes.map(({ path, handlers, answerError }): DirectRoute => {
    app.post(path, handlers, answerError);
    return { path, handlers: [...firstHandlers, ...apiHandlers, ...handlers], answerError };
  });
  for (const addRoutes of features.routes) addRoutes(app);
  app.get('/health', answerHealth(readHealth));
  app.use('/console/api', requireStore, endIfSlow, arrivingBodies.createHandler(consoleBodyBytes), console.api);
  for (const [api, [first = clientFormats[0], ...others]] of Map.groupBy(clientFormats, (format) => format.api)) {
    const paths = ['/models', ...[first, ...others].flatMap(({ routes }) => routes.map(({ path }) => path))];
    for (const prefix of api.prefixes.filter((each) => each !== '')) {
      app.use(prefix, refuseMisplacedPath({ base: getBasePath(api), paths }), createErrorHandler(first, features));
    }
  }
  app.get('/', answerAddressList(config.PUBLIC_URL, apis));
  app.use(console.pages);
  app.use(refuseUnknownPath, createErrorHandler(clientFormats[0], features));
  return { app, directRoutes };
}
