import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import { getRequestContext, type TracedRequest } from './request-context.ts';

/**
 * Starts a span for every request, in the client's trace if it sends a `traceparent` (W3C Trace Context). The span ends when the response
 * closes; see also `holdTrace`. Mount it after `assignRequestId`.
 */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { method } = request;
    const context = getRequestContext(response);
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
 * Keeps the span of a request open until `attributesSet` resolves, because the attributes of the span are complete only then. The end time
 * of the span remains the end of the response. Call it when the response closes.
 * @param attributesSet must not reject
 */
export function holdTrace(response: Response, attributesSet: Promise<void>): void {
  const { traced } = getRequestContext(response);
  if (traced) traced.attributesSet = attributesSet;
}

function end({ span, attributesSet }: TracedRequest, request: Request, response: Response): void {
  const route = findRoute(request);
  if (route !== undefined) span.rename(`${request.method} ${route}`);
  span.set({ [names.httpRoute]: route, [names.httpStatus]: response.headersSent ? response.statusCode : undefined });
  if (!attributesSet) return span.end();
  const endedAt = performance.now();
  void attributesSet.then(() => span.end(endedAt));
}

/** Returns the registered path of the route. Unlike the path that the client sent, it has a small number of values. */
function findRoute({ baseUrl, route }: Request): string | undefined {
  const path: unknown = (route as { path?: unknown } | undefined)?.path;
  if (typeof path !== 'string') return undefined;
  // If the method does not match, `route` is still the last route of the app that matched the path. Its path is the full path.
  if (baseUrl !== '' && path.startsWith(`${baseUrl}/`)) return path;
  return `${baseUrl}${path === '/' ? '' : path}`;
}
