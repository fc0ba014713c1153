import type { RequestHandler } from 'express';

/** Disconnects a client whose request does not arrive within `ms` milliseconds. For routes whose body readers have no timeout. */
export function endSlowBody(ms: number): RequestHandler {
  return (request, _response, next) => {
    if (!request.complete) {
      const timer = setTimeout(() => request.destroy(), ms);
      request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    }
    next();
  };
}
