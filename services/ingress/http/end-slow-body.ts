import type { RequestHandler } from 'express';

/**
 * Disconnects a client whose request does not arrive in time, where nothing else waits for it.
 * @param ms milliseconds
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
