import type { RequestHandler, NextFunction, Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';

export interface PlacedApi {
  /** Base path of the API: `/api/<segment>`. */
  base: string;
  /** Paths of the API's formats below its version prefix, such as `/chat/completions`. */
  paths: readonly string[];
}

/**
 * Refuses a request for a path of an API without the API's base path. The error names the missing part. Clients send such requests if their
 * base URL is too short. Mount the handler at a version prefix of the APIs, such as `/v1`.
 */
export function refuseMisplacedPath(api: PlacedApi): RequestHandler {
  return (request, _response, next) => {
    if (!api.paths.some((path) => request.path === path)) return next();
    const path = `${request.baseUrl}${request.path}`;
    throw new RouterError(
      'not_found',
      `There is no ${request.method} ${path} here, but there is ${api.base}${path}: add ${api.base} to the base URL.`,
    );
  };
}

/**
 * Refuses WebSockets on every path with status 426. After this status, Codex uses HTTP at once, while any other status makes it retry seven
 * times. As there is no listener for upgrades, Node handles such a request like any other, and the connection stays usable.
 */
export function refuseUpgrade(request: Request, response: Response, next: NextFunction): void {
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return next();
  // The protocol to use instead (RFC 9110, 15.5.22).
  response.setHeader('upgrade', 'HTTP/1.1');
  response.setHeader('connection', 'upgrade');
  throw new RouterError('upgrade_refused', 'There are no WebSockets here. Send the request over HTTP.');
}
