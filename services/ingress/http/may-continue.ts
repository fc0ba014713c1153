import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';

/** Header in which a client says that its stream is to end with an error rather than continue on another worker. */
const header = 'x-rtr-continue';

/**
 * Whether a client lets its stream continue on another worker when it loses its own.
 * @throws RouterError `invalid_request` for any value but `never`
 */
export function mayContinue(headers: IncomingHttpHeaders): boolean {
  const value = headers[header];
  if (value === undefined) return true;
  if (value === 'never') return false;
  throw new RouterError('invalid_request', `The header ${header} must be \`never\`, or be left out.`);
}
