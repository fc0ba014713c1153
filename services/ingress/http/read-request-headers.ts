import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';

/** Header with the seconds that the client's request may wait in the queue. Decimals are allowed. */
const maxWaitHeader = 'x-rtr-max-wait';

const maxSeconds = 3_600;

/**
 * Returns the milliseconds that a client lets its request wait in the queue; undefined if the client sets no limit.
 * @throws RouterError `invalid_request` for a value that is not a number of seconds above 0 and up to 3,600
 */
export function readMaxWait(headers: IncomingHttpHeaders): number | undefined {
  const value = headers[maxWaitHeader];
  if (value === undefined) return undefined;
  const seconds = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : 0;
  if (seconds > 0 && seconds <= maxSeconds) return seconds * 1000;
  const message = `The header ${maxWaitHeader} must be a number of seconds above 0 and up to ${maxSeconds}.`;
  throw new RouterError('invalid_request', message);
}

/** Header with which a client requests an error instead of a stream that continues on another worker. */
const continueHeader = 'x-rtr-continue';

/**
 * Returns whether a stream that loses its worker may continue on another worker.
 * @throws RouterError `invalid_request` for any value but `never`
 */
export function readContinuePermission(headers: IncomingHttpHeaders): boolean {
  const value = headers[continueHeader];
  if (value === undefined) return true;
  if (value === 'never') return false;
  throw new RouterError('invalid_request', `The header ${continueHeader} must be \`never\`, or be left out.`);
}
