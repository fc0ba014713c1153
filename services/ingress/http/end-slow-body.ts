import type { RequestHandler } from 'express';

/**
 * Creates a handler that disconnects a client if its request does not arrive within `ms` milliseconds. Mount it on routes that read the
 * body without a timeout.
 */
export function endSlowBody(ms: number): RequestHandler {
  return (request, _response, next) => {
    if (!request.complete) {
      const timer = setTimeout(() => request.destroy(), ms);
      request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    }
    next();
  };
}
