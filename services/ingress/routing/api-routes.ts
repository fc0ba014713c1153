import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import type { ClientApi } from '#shared/formats/client-api.ts';
import type { ClientFormat, ClientRoute } from '#shared/formats/client-format.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { createErrorHandler, refuseUnknownPath, refuseMethod, type AnswerErrorParts } from '../http/answer-error.ts';
import { addBatchRoutes, type BatchRoutesParts } from '../batches/batch-routes.ts';
import { addFileRoutes, type FileRoutesParts } from '../files/file-routes.ts';
import { answerHealth, type HealthParts } from '../http/health.ts';
import type { IdempotencyParts } from '../idempotency/idempotency-parts.ts';
import { handleIdempotently, type KeyedHandler } from '../idempotency/idempotent.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import { identityOf, requireKey, type RequireKeyParts } from '../http/require-key.ts';
import { answerDesktopConfiguration, type DesktopConfigurationParts } from '../sign-in/desktop-configuration.ts';
import { answerManagedSettings } from '../sign-in/managed-settings.ts';
import { discardTelemetry } from '../sign-in/discard-telemetry.ts';
import { findModel, listModels } from './list-models.ts';
import { addStoredRoutes } from './stored-routes.ts';
import { serveModelRequest, type ServeParts } from './serve-model-request.ts';

export interface ApiRoutesParts
  extends
    ServeParts,
    HealthParts,
    AnswerErrorParts,
    RequireKeyParts,
    FileRoutesParts,
    BatchRoutesParts,
    Pick<DesktopConfigurationParts, 'publicUrl'> {
  idempotency: IdempotencyParts;
  files: FileRoutesParts['files'] & BatchRoutesParts['files'];
  /** Returns the moving average of a model's output tokens per second; undefined if unknown. */
  speedOf: (model: string) => number | undefined;
  store: HealthParts['store'] & FileRoutesParts['store'];
}

export interface GenerateRoute {
  path: string;
  handlers: [RequestHandler, RequestHandler, ErrorRequestHandler];
}

function modelHandler(format: ClientFormat, route: ClientRoute, parts: ApiRoutesParts): RequestHandler {
  const keyed = {
    format,
    answerError: createErrorHandler(format, parts),
    body: 'whole',
    isUncancelled: false,
  } as const;
  return handleIdempotently(serveModelRequest(format, route, parts), keyed, parts.idempotency);
}

/** Returns the wrapper for handlers of requests with an idempotency key whose executions continue when the client disconnects. */
function keyedBy(format: ClientFormat, parts: ApiRoutesParts): KeyedHandler {
  const route = { format, answerError: createErrorHandler(format, parts), isUncancelled: true };
  return (body, handler) => handleIdempotently(handler, { ...route, body }, parts.idempotency);
}

/** Returns the routes that generate answers. They are the busiest routes, so the app mounts them before all routers. */
export function generateRoutes(base: string, format: ClientFormat, parts: ApiRoutesParts): GenerateRoute[] {
  const { prefixes, keyHeader } = format.api;
  return format.routes
    .filter(({ operation }) => operation === 'generate')
    .flatMap((route) =>
      prefixes.map((prefix) => ({
        path: `${base}${prefix}${route.path}`,
        handlers: [requireKey(parts, keyHeader), modelHandler(format, route, parts), createErrorHandler(format, parts)],
      })),
    );
}

/**
 * Creates all other routes of an API, to be mounted at `/api/<segment>`: greetings, health, models, stored objects, and the operations of
 * its formats other than `generate`.
 * @param formats the formats of the API; errors of paths that belong to no format are written in the first format
 */
export function apiRoutes(
  api: ClientApi,
  formats: readonly [ClientFormat, ...ClientFormat[]],
  parts: ApiRoutesParts,
): Router {
  const { prefixes, keyHeader } = api;
  const cards = (response: Response) =>
    listModels([...parts.workers.pools()], parts.registry(), readKeyPermits(identityOf(response)), parts.speedOf);

  const keyed = Router({ caseSensitive: true });
  keyed.get('/health', answerHealth(parts));
  keyed.use(requireKey(parts, keyHeader));
  keyed.get('/models', (request, response) => {
    response.json(api.listModels(cards(response), request.query, request.headers));
  });
  keyed.get('/models/*id', (request, response) => {
    response.json(api.showModel(findModel(cards(response), request.params['id'], api)));
  });
  for (const format of formats) {
    for (const route of format.routes) {
      if (route.operation !== 'generate') keyed.post(route.path, modelHandler(format, route, parts));
      keyed.all(route.path, refuseMethod('POST'), createErrorHandler(format, parts));
    }
  }
  for (const format of formats) {
    const { stored, background, files, read } = format;
    if (stored) {
      addStoredRoutes(keyed, { stored, background, read }, parts, keyedBy(format, parts));
      keyed.use(stored.path, createErrorHandler(format, parts));
    }
    if (files) {
      addFileRoutes(keyed, files, parts, keyedBy(format, parts));
      keyed.use(files.path, createErrorHandler(format, parts));
    }
  }
  if (api.batches) addBatchRoutes(keyed, api, api.batches, parts, keyedBy(formats[0], parts));
  for (const path of ['/models', '/models/*id', '/health']) keyed.all(path, refuseMethod('GET', 'HEAD'));
  const { programs, desktop } = api;
  if (programs) {
    keyed.get(
      programs.settingsPath,
      answerManagedSettings((response) => programs.settings(cards(response))),
    );
    keyed.post(programs.telemetryPaths, endSlowBody(parts.bodyTimeoutMs), discardTelemetry);
  }
  if (desktop) keyed.get(desktop.path, answerDesktopConfiguration(desktop, cards, prefixes, parts));

  const routes = Router({ caseSensitive: true });
  for (const [path, greeting] of Object.entries(api.greetings ?? {})) {
    routes.get(path, (_, response) => void response.json(greeting));
    routes.all(path, refuseMethod('GET', 'HEAD'));
  }
  for (const prefix of prefixes) routes.use(prefix === '' ? '/' : prefix, keyed);
  routes.use(requireKey(parts, keyHeader), refuseUnknownPath);
  routes.use(createErrorHandler(formats[0], parts));
  return routes;
}
