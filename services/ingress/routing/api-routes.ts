import { Router, type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import type { ClientApi, ModelCard } from '#shared/formats/client-api.ts';
import type { ClientFormat, ClientRoute } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { readKeyPermits } from '#shared/serving/key-permits.ts';
import type { IngressContext } from '../context.ts';
import { createErrorHandler, refuseUnknownPath, refuseMethod } from '../http/answer-error.ts';
import { answerHealth } from '../http/health.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import { endSlowBody } from '../http/end-slow-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import { requireKey } from '../http/require-key.ts';
import { answerDesktopConfiguration } from '../sign-in/desktop-configuration.ts';
import { answerManagedSettings } from '../sign-in/managed-settings.ts';
import { findModel, listModels } from './list-models.ts';
import { serveModelRequest, type ServeParts } from './serve-model-request.ts';

type Formats = readonly [ClientFormat, ...ClientFormat[]];

/**
 * Adds the routes of a feature to those of an API, behind `requireKey`. It is called for every API.
 * @param formats the formats of the API
 */
export type AddApiRoutes = (routes: Router, api: ClientApi, formats: Formats) => void;

export interface GenerateRoute {
  path: string;
  handlers: [RequestHandler, RequestHandler];
  answerError: ErrorRequestHandler;
}

/** The routes that generate answers. They are the busiest routes, see `serveDirectly`. */
export function listGenerateRoutes(
  { getBasePath }: IngressContext,
  parts: ServeParts,
  handleKeyed: HandleKeyed,
): GenerateRoute[] {
  return clientFormats.flatMap((format) => {
    const { prefixes, keyHeader } = format.api;
    return format.routes
      .filter(({ operation }) => operation === 'generate')
      .flatMap((route) =>
        prefixes.map((prefix) => ({
          path: `${getBasePath(format.api)}${prefix}${route.path}`,
          handlers: [requireKey(parts, keyHeader), createModelHandler(format, route, parts, handleKeyed)],
          answerError: createErrorHandler(format, parts),
        })),
      );
  });
}

function createModelHandler(format: ClientFormat, route: ClientRoute, parts: ServeParts, handleKeyed: HandleKeyed) {
  return handleKeyed(format, 'whole', serveModelRequest(format, route, parts), false);
}

/**
 * Creates the routes of the APIs besides `listGenerateRoutes`: greetings, health, models, the operations of their formats other than
 * `generate`, and the routes of other features. Errors of paths that belong to no format are written in the first format of their API.
 */
export function createApiRoutes(
  context: IngressContext,
  parts: ServeParts,
  handleKeyed: HandleKeyed,
  features: readonly AddApiRoutes[],
) {
  return (app: Express): void => {
    for (const [api, formats] of Map.groupBy(clientFormats, (format) => format.api)) {
      const [first, ...others] = formats;
      if (first) app.use(context.getBasePath(api), createRoutes(api, [first, ...others]));
      for (const [path, greeting] of Object.entries(api.greetings ?? {})) {
        app.get(path, (_, response) => void response.json(greeting));
      }
    }
  };

  function createRoutes(api: ClientApi, formats: Formats): Router {
    const { prefixes, keyHeader } = api;
    const { config, metrics, serving } = context;
    const listCards = (response: Response): ModelCard[] =>
      listModels(
        [...serving.workers.pools()],
        parts.registry(),
        readKeyPermits(getRequestContext(response).identity),
        (model) => metrics.speeds.find(model),
      );

    const keyRoutes = Router({ caseSensitive: true });
    keyRoutes.get('/health', answerHealth(context.readHealth));
    keyRoutes.use(requireKey(parts, keyHeader));
    keyRoutes.get('/models', (request, response) => {
      response.json(api.listModels(listCards(response), request.query, request.headers));
    });
    keyRoutes.get('/models/*id', (request, response) => {
      response.json(api.showModel(findModel(listCards(response), request.params['id'], api)));
    });
    for (const format of formats) {
      for (const route of format.routes) {
        if (route.operation !== 'generate')
          keyRoutes.post(route.path, createModelHandler(format, route, parts, handleKeyed));
        keyRoutes.all(route.path, refuseMethod('POST'), createErrorHandler(format, parts));
      }
    }
    for (const addRoutes of features) addRoutes(keyRoutes, api, formats);
    for (const path of ['/models', '/models/*id', '/health']) keyRoutes.all(path, refuseMethod('GET', 'HEAD'));
    const { programs, desktop } = api;
    if (programs) {
      keyRoutes.get(
        programs.settingsPath,
        answerManagedSettings((response) => programs.settings(listCards(response))),
      );
      keyRoutes.post(programs.telemetryPaths, endSlowBody(config.BODY_TIMEOUT_MS), discardTelemetry);
    }
    if (desktop) keyRoutes.get(desktop.path, answerDesktopConfiguration(desktop, listCards, prefixes, context));

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
}

/** Largest body in bytes. The client of a larger body is disconnected. */
const maxBytes = 8 * 1024 * 1024;

/**
 * Accepts and discards the telemetry that a program sends to the router as its gateway (OTLP over HTTP), because a refusal would put an
 * error into every person's log.
 */
export const discardTelemetry: RequestHandler = (request, response) => {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) request.destroy();
  });
  request.once('end', () => response.status(200).json({}));
};
