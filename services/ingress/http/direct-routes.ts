import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import type { RequestListener } from 'node:http';
import type { Logger } from '#shared/core/log.ts';

/** A route for `POST` whose handlers run without Express. */
export interface DirectRoute {
  /** The full path. */
  path: string;
  /** The handlers of the app that every request to the route passes through, then those of the route. */
  handlers: readonly RequestHandler[];
  answerError: ErrorRequestHandler;
}

/**
 * Creates a listener that runs the handlers of the busiest routes itself, and passes all other requests to the app. Express would take a
 * tenth of the processor time that an ingress needs for a request. The app must have the same routes, because Express accepts further
 * spellings of their paths. See `createMessageClasses` for the methods of Express in the messages.
 */
export function serveDirectly(app: Express, routes: readonly DirectRoute[], log: Logger): RequestListener {
  const routesByPath = new Map(routes.map((route) => [route.path, route]));
  return (request, response) => {
    const route = request.method === 'POST' ? routesByPath.get(findPath(request.url)) : undefined;
    if (route) runHandlers(route, request as Request, response as Response, log);
    else app(request, response);
  };
}

function findPath(url = ''): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

function runHandlers(route: DirectRoute, request: Request, response: Response, log: Logger): void {
  // Handlers and the methods of Express read these properties, which Express would set.
  request.res = response;
  request.originalUrl = request.url;
  request.baseUrl = '';
  request.route = route;
  let position = 0;
  const fail = (error: unknown): void => {
    try {
      void route.answerError(error, request, response, () => response.destroy());
    } catch (thrown) {
      log.error({ err: thrown }, 'an error could not be sent');
      response.destroy();
    }
  };
  const next: NextFunction = (failure?: unknown) => {
    if (failure !== undefined) return fail(failure);
    const handler = route.handlers[position];
    position += 1;
    try {
      const running: unknown = handler?.(request, response, next);
      if (running instanceof Promise) running.catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  };
  next();
}
