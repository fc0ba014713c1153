import type { ServerResponse } from 'node:http';
import { RouterError, toRouterError } from '#shared/core/errors.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { eventStreamHeaders } from '#shared/formats/sse/encode.ts';

/**
 * Milliseconds for which the rest of a refused request is read and discarded. Closing at once would reset the connection,
 * and many clients would never see the answer.
 */
const lingerMs = 5_000;

/** Sends an error in the client's format, for a request that failed before any of its answer was sent. */
export function refuse(response: ServerResponse, format: AnswerFormat, error: RouterError, requestId: string): void {
  const { status, headers, body } = format.errorAnswer(error, requestId);
  // A client that was too slow to send its request gets the answer, but no more time.
  if (error.code === 'request_timeout') response.setHeader('connection', 'close');
  else if (!response.req.complete) discardRest(response);
  // If the body was not read, only this header shows whether the request asks for a stream.
  const stream = response.req.headers.accept === 'text/event-stream' ? format.openStream({ requestId }) : undefined;
  if (stream?.opensToFail?.(error) === true) {
    startEvents(response);
    response.end(stream.errorEvent(error));
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Sends the status and the headers of a stream of server-sent events. */
export function startEvents(response: ServerResponse): void {
  response.writeHead(200, eventStreamHeaders);
}

function discardRest({ req: request }: ServerResponse): void {
  const timer = setTimeout(() => request.socket.destroy(), lingerMs);
  request.once('end', () => clearTimeout(timer));
  request.once('close', () => clearTimeout(timer));
  request.resume();
}

/** Returns the error that a client receives for a thrown value. The client does not see the cause of an unexpected error. */
export function asRouterError(error: unknown): RouterError {
  // The errors of Express have a status, for example the error for a path that cannot be decoded.
  if (error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500) {
    return new RouterError('invalid_request', 'The request could not be understood.', { cause: error });
  }
  return toRouterError(error);
}
