import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';

/** Header with which a client requests an error instead of a stream that continues on another worker. */
const header = 'x-rtr-continue';

/**
 * Returns whether a stream that loses its worker may continue on another worker.
 * @throws RouterError `invalid_request` for any value but `never`
 */
export function readContinuePermission(headers: IncomingHttpHeaders): boolean {
  const value = headers[header];
  if (value === undefined) return true;
  if (value === 'never') return false;
  throw new RouterError('invalid_request', `The header ${header} must be \`never\`, or be left out.`);
}
