import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';

const acceptable = /^[\w.:-]{1,128}$/;

/** What the formats call the id. */
const headerNames = ['x-request-id', 'request-id'] as const;

/**
 * Gives every request an id: the client's own `x-request-id` when it is a plain token, else a new one. It goes back to
 * the client (under the header names of both formats) and into every log line of the request, here and on the worker.
 */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  const id = given !== undefined && acceptable.test(given) ? given : mintRequestId();
  response.locals['requestId'] = id;
  for (const name of headerNames) response.setHeader(name, id);
  next();
}

/** The id that `assignRequestId` gave. */
export function requestIdOf(response: Response): string {
  return String(response.locals['requestId']);
}

/** A new id. */
export function mintRequestId(): string {
  return `req_${randomUUID()}`;
}

/** The id under the header names of both formats. */
export function requestIdHeaders(id: string): Record<string, string> {
  return Object.fromEntries(headerNames.map((name) => [name, id]));
}
