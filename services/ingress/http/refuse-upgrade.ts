import type { NextFunction, Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';

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
