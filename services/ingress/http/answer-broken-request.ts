import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { CountRefusal } from './answer-error.ts';
import { createRequestId, createRequestIdHeaders } from './request-id.ts';

export interface BrokenRequestParts {
  log: Logger;
  countRefusal: CountRefusal;
  /** Whether an answer on this connection has begun. An error answer would corrupt it. */
  isAnswering: (socket: Duplex) => boolean;
}

/**
 * Creates the listener of `clientError`, which answers requests that Node's HTTP parser rejects: requests that are not HTTP, arrive too
 * slowly, or have headers that are too large. By default, Node answers such a request without a body and closes the connection.
 */
export function createBrokenRequestListener(
  format: AnswerFormat,
  { log, countRefusal, isAnswering }: BrokenRequestParts,
) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
      socket.destroy();
      return;
    }
    const refusal = toRefusal(error);
    const requestId = createRequestId();
    log.info({ requestId, code: refusal.code, reason: error.code }, 'request refused');
    countRefusal({ format: format.name, requestId, error: refusal, key: undefined, asked: undefined });
    const { status, headers, body } = format.errorAnswer(refusal, requestId);
    const text = JSON.stringify(body);
    const head = {
      ...headers,
      ...createRequestIdHeaders(requestId),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    };
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[errorTable[refusal.code].status]}\r\n${lines.join('')}\r\n${text}`);
  };
}

function toRefusal(error: NodeJS.ErrnoException): RouterError {
  if (error instanceof RouterError) return error;
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new RouterError('headers_too_large', 'The request headers are too large.', { cause: error });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RouterError('request_timeout', 'The request did not arrive in time.', { cause: error });
    default:
      return new RouterError('invalid_request', 'This is not a valid HTTP request.', { cause: error });
  }
}
