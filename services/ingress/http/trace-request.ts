import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import { contextOf, type TracedRequest } from './request-context.ts';

/**
 * Starts a span for every request, in the client's trace if it sends a `traceparent` (W3C Trace Context). The span ends when the response
 * closes; see also `holdTrace`. Mount it after `assignRequestId`.
 */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { method } = request;
    const context = contextOf(response);
    const traceparent = request.get('traceparent');
    const parent = traceparent === undefined ? undefined : { traceparent, tracestate: request.get('tracestate') };
    const span = tracing.begin(method, 'server', parent, {
      attributes: {
        [names.httpMethod]: method,
        [names.urlScheme]: request.protocol,
        'rtr.request_id': context.requestId,
      },
    });
    const traced: TracedRequest = { span };
    context.traced = traced;
    response.on('close', () => {
      // If a client disconnects early, the attributes of its request are set only in a later turn of the event loop.
      setImmediate(() => end(traced, request, response));
    });
    next();
  };
}

/**
 * Keeps the span of a request open until `settled` resolves, because the span's attributes depend on it. The end time of the span remains
 * the end of the response. Call it when the response closes.
 * @param settled must not reject
 */
export function holdTrace(response: Response, settled: Promise<void>): void {
  const { traced } = contextOf(response);
  if (traced) traced.settled = settled;
}

function end({ span, settled }: TracedRequest, request: Request, response: Response): void {
  const route = routeOf(request);
  if (route !== undefined) span.rename(`${request.method} ${route}`);
  span.set({ [names.httpRoute]: route, [names.httpStatus]: response.headersSent ? response.statusCode : undefined });
  if (!settled) return span.end();
  const at = performance.now();
  void settled.then(() => span.end(at));
}

/** Returns the path as it is registered, not as the client sent it, because the number of registered paths is small. */
function routeOf({ baseUrl, route }: Request): string | undefined {
  const path: unknown = (route as { path?: unknown } | undefined)?.path;
  if (typeof path !== 'string') return undefined;
  // `route` may still be a route of the app itself, with the full path, that matched the path but not the method.
  if (baseUrl !== '' && path.startsWith(`${baseUrl}/`)) return path;
  return `${baseUrl}${path === '/' ? '' : path}`;
}
