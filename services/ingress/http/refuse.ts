import type { ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';

/**
 * Milliseconds for which what a refused client is still sending is read and thrown away. Closing at once would reset
 * the connection, and many clients then never see the answer.
 */
const lingerMs = 5_000;

/** Answers a request that failed before anything of an answer was sent, in the client's own format. */
export function refuse(response: ServerResponse, format: AnswerFormat, error: RouterError, requestId: string): void {
  const { status, headers, body } = format.errorAnswer(error, requestId);
  // A client whose time for sending is up gets the answer, and no more time.
  if (error.code === 'request_timeout') response.setHeader('connection', 'close');
  else if (!response.req.complete) lingerOver(response);
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function lingerOver({ req: request }: ServerResponse): void {
  const timer = setTimeout(() => request.socket.destroy(), lingerMs);
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
  request.resume();
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
