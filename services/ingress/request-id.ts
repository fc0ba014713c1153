import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const acceptable = /^[\w.:-]{1,128}$/;

/**
 * Gives every request an id: the client's own `x-request-id` when it is a plain token, else a new one. It goes back to
 * the client (under the header names of both families) and into every log line of the request, here and on the worker.
 */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && acceptable.test(given) ? given : `req_${randomUUID()}`;
  response.locals['requestId'] = id;
  response.setHeader('x-request-id', id);
  response.setHeader('request-id', id);
  next();
}

/** The id that `assignRequestId` gave. */
export function requestIdOf(response: Response): string {
  return String(response.locals['requestId']);
}
