import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { createContext } from './request-context.ts';

const requestIdPattern = /^[\w.:-]{1,128}$/;

/** Response headers that contain the request id. Each SDK reads one of them. */
const headerNames = ['x-request-id', 'request-id'] as const;

/**
 * Gives every request its context, with an id: the client's `x-request-id` if it is a plain token, otherwise a new one. The id is in the
 * response headers and in every log line of the request, here and on the worker.
 */
export function assignRequestId(request: Request, response: Response, next: NextFunction): void {
  const clientId = request.headers['x-request-id'];
  const id = typeof clientId === 'string' && requestIdPattern.test(clientId) ? clientId : createRequestId();
  createContext(response, id);
  for (const name of headerNames) response.setHeader(name, id);
  next();
}

export function createRequestId(): string {
  return `req_${randomUUID()}`;
}

export function createRequestIdHeaders(id: string): Record<string, string> {
  return Object.fromEntries(headerNames.map((name) => [name, id]));
}
