import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import type { ClientApi } from '#shared/formats/client-api.ts';
import type { ClientFormat, ClientRoute } from '#shared/formats/client-format.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import { createErrorHandler, refuseUnknownPath, refuseMethod, type AnswerErrorParts } from '../http/answer-error.ts';
import { addBatchRoutes, type BatchRoutesParts } from '../batches/batch-routes.ts';
import { addFileRoutes, type FileRoutesParts } from '../files/file-routes.ts';
import { answerHealth, type HealthParts } from '../http/health.ts';
import type { IdempotencyParts } from '../idempotency/idempotency-parts.ts';
import { handleIdempotently, type KeyedHandler } from '../idempotency/handle-idempotently.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import { requireKey, type RequireKeyParts } from '../http/require-key.ts';
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
  handlers: [RequestHandler, RequestHandler];
  answerError: ErrorRequestHandler;
}

function createModelHandler(format: ClientFormat, route: ClientRoute, parts: ApiRoutesParts): RequestHandler {
  const keyed = {
    format,
    answerError: createErrorHandler(format, parts),
    body: 'whole',
    isUncancelled: false,
  } as const;
  return handleIdempotently(serveModelRequest(format, route, parts), keyed, parts.idempotency);
}

/**
 * Creates a wrapper for handlers of requests with an idempotency key. The executions of the wrapped handlers continue when the client
 * disconnects.
 */
function createKeyedHandler(format: ClientFormat, parts: ApiRoutesParts): KeyedHandler {
  const route = { format, answerError: createErrorHandler(format, parts), isUncancelled: true };
  return (body, handler) => handleIdempotently(handler, { ...route, body }, parts.idempotency);
}

/** Returns the routes that generate answers. They are the busiest routes, see `serveDirectly`. */
export function listGenerateRoutes(base: string, format: ClientFormat, parts: ApiRoutesParts): GenerateRoute[] {
  const { prefixes, keyHeader } = format.api;
  return format.routes
    .filter(({ operation }) => operation === 'generate')
    .flatMap((route) =>
      prefixes.map((prefix) => ({
        path: `${base}${prefix}${route.path}`,
        handlers: [requireKey(parts, keyHeader), createModelHandler(format, route, parts)],
        answerError: createErrorHandler(format, parts),
      })),
    );
}

/**
 * Creates the routes of an API besides `listGenerateRoutes`, to be mounted at `/api/<segment>`: greetings, health, models, stored objects,
 * and the operations of its formats other than `generate`.
 * @param formats the formats of the API; errors of paths that belong to no format are written in the first format
 */
export function createApiRoutes(
  api: ClientApi,
  formats: readonly [ClientFormat, ...ClientFormat[]],
  parts: ApiRoutesParts,
): Router {
  const { prefixes, keyHeader } = api;
  const listCards = (response: Response) =>
    listModels(
      [...parts.workers.pools()],
      parts.registry(),
      readKeyPermits(getRequestContext(response).identity),
      parts.speedOf,
    );

  const keyRoutes = Router({ caseSensitive: true });
  keyRoutes.get('/health', answerHealth(parts));
  keyRoutes.use(requireKey(parts, keyHeader));
  keyRoutes.get('/models', (request, response) => {
    response.json(api.listModels(listCards(response), request.query, request.headers));
  });
  keyRoutes.get('/models/*id', (request, response) => {
    response.json(api.showModel(findModel(listCards(response), request.params['id'], api)));
  });
  for (const format of formats) {
    for (const route of format.routes) {
      if (route.operation !== 'generate') keyRoutes.post(route.path, createModelHandler(format, route, parts));
      keyRoutes.all(route.path, refuseMethod('POST'), createErrorHandler(format, parts));
    }
  }
  for (const format of formats) {
    const { stored, background, files, read } = format;
    if (stored) {
      addStoredRoutes(keyRoutes, { stored, background, read }, parts, createKeyedHandler(format, parts));
      keyRoutes.use(stored.path, createErrorHandler(format, parts));
    }
    if (files) {
      addFileRoutes(keyRoutes, files, parts, createKeyedHandler(format, parts));
      keyRoutes.use(files.path, createErrorHandler(format, parts));
    }
  }
  if (api.batches) addBatchRoutes(keyRoutes, api, api.batches, parts, createKeyedHandler(formats[0], parts));
  for (const path of ['/models', '/models/*id', '/health']) keyRoutes.all(path, refuseMethod('GET', 'HEAD'));
  const { programs, desktop } = api;
  if (programs) {
    keyRoutes.get(
      programs.settingsPath,
      answerManagedSettings((response) => programs.settings(listCards(response))),
    );
    keyRoutes.post(programs.telemetryPaths, endSlowBody(parts.bodyTimeoutMs), discardTelemetry);
  }
  if (desktop) keyRoutes.get(desktop.path, answerDesktopConfiguration(desktop, listCards, prefixes, parts));

  const routes = Router({ caseSensitive: true });
  for (const [path, greeting] of Object.entries(api.greetings ?? {})) {
    routes.get(path, (_, response) => void response.json(greeting));
    routes.all(path, refuseMethod('GET', 'HEAD'));
  }
  for (const prefix of prefixes) routes.use(prefix === '' ? '/' : prefix, keyRoutes);
  routes.use(requireKey(parts, keyHeader), refuseUnknownPath);
  routes.use(createErrorHandler(formats[0], parts));
  return routes;
}
