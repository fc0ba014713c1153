import type { ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { EdgeFormat } from './edge-family.ts';

/** Answers a request that failed before anything of an answer was sent, in the client's own format. */
export function refuse(response: ServerResponse, family: EdgeFormat, error: RouterError, requestId: string): void {
  const { status, headers, body } = family.errorAnswer(error, requestId);
  // A client that is still sending after its time was up gets the answer, and no further request on this connection.
  if (error.code === 'request_timeout') response.setHeader('connection', 'close');
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** What a client is told of an error, whatever it is. The true cause of an unexpected one stays in the log. */
export function asRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  // Express's own errors, as for a path that cannot be decoded, carry a status.
  if (error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500) {
    return new RouterError('invalid_request', 'The request could not be understood.', { cause: error });
  }
  return new RouterError('internal', 'The router failed.', { cause: error });
}
