import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { attributeNames as names } from '#shared/core/tracing/attribute-names.ts';
import type { TraceSpan, Tracing } from '#shared/core/tracing/tracing.ts';
import { requestIdOf } from './request-id.ts';

/**
 * Gives every request a span, in the client's trace when it sends a `traceparent` (W3C Trace Context). It ends when the
 * answer's last byte has left. Comes behind `assignRequestId`.
 */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request: Request, response: Response, next: NextFunction): void => {
    const { method } = request;
    const traceparent = request.get('traceparent');
    const parent = traceparent === undefined ? undefined : { traceparent, tracestate: request.get('tracestate') };
    const span = tracing.begin(method, 'server', parent, {
      attributes: {
        [names.httpMethod]: method,
        [names.urlScheme]: request.protocol,
        'rtr.request_id': requestIdOf(response),
      },
    });
    response.locals['trace'] = span;
    response.on('close', () => {
      // What the request was recorded as comes in the turns that follow, when a client leaves early.
      setImmediate(() => end(span, request, response));
    });
    next();
  };
}

/** The span of a request; undefined when requests are not traced. */
export function traceOf(response: Response): TraceSpan | undefined {
  return response.locals['trace'] as TraceSpan | undefined;
}

function end(span: TraceSpan, request: Request, response: Response): void {
  const route = routeOf(request);
  if (route !== undefined) span.rename(`${request.method} ${route}`);
  span.set({ [names.httpRoute]: route, [names.httpStatus]: response.headersSent ? response.statusCode : undefined });
  span.end();
}

/** The path as the route table has it, not as the client wrote it: there are few of them. */
function routeOf({ baseUrl, route }: Request): string | undefined {
  const path: unknown = (route as { path?: unknown } | undefined)?.path;
  if (typeof path !== 'string') return undefined;
  // A route that only others' methods are for may have been passed on the way into the router whose base this is.
  if (baseUrl !== '' && path.startsWith(`${baseUrl}/`)) return path;
  return `${baseUrl}${path === '/' ? '' : path}`;
}
