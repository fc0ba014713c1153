import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RouterError } from '#shared/core/errors.ts';

/** Largest number of requests of a connection that may wait for the answers to earlier requests. */
const maxWaiting = 8;

/** Maximum of headers of a request. Programs send about thirty, and a thousand short ones take as much memory as a large body. */
export const maxHeaders = 200;

/** The form of a `Host` header: a name or an IP address, and a port (RFC 9110, section 7.2). It may be empty. */
const hostPattern = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\w.~!$&'()*+,;=%:-]+\])(?::\d*)?$/;

/**
 * Creates a listener that serves one request of a connection at a time. Node parses everything that it has read from a connection at once,
 * which may be more than two thousand pipelined requests. Node calls its listener for each of them, even if the connection is closed
 * meanwhile.
 * @param serve is called with a request only when its answer can be sent
 * @param refuse sends an error and ends the connection, for an invalid request or too many waiting requests
 */
export function serveInTurn(
  serve: RequestListener,
  refuse: (error: RouterError, socket: Duplex) => void,
): RequestListener {
  const waiting = new WeakMap<Duplex, number>();

  function refuseAndClose(error: RouterError, socket: Duplex): void {
    refuse(error, socket);
    // Parsed requests stay in memory until the connection is closed. The error is sent in this turn of the event loop.
    setImmediate(() => socket.destroy());
  }

  function waitForTurn(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const waitingCount = waiting.get(socket) ?? 0;
    if (waitingCount >= maxWaiting) return refuseAndClose(tooManyWaitingError(), socket);
    waiting.set(socket, waitingCount + 1);
    // Node emits this event when it assigns the connection to a response.
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // In the next tick, the previous response has emitted `close`.
      process.nextTick(() => {
        if (socket.writable) serve(request, response);
      });
    });
  }

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return;
    if (request.rawHeaders.length > 2 * maxHeaders) return refuseAndClose(tooManyHeadersError(), socket);
    const fault = findFault(request);
    if (fault !== undefined) return refuseAndClose(new RouterError('invalid_request', fault), socket);
    if (response.socket) serve(request, response);
    else waitForTurn(request, response);
  };
}

function tooManyHeadersError(): RouterError {
  return new RouterError('headers_too_large', `The request has more than ${maxHeaders} headers.`);
}

function tooManyWaitingError(): RouterError {
  const message = `More than ${maxWaiting} requests wait for their turn on this connection. Wait for answers, or open more connections.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 1 });
}

/** Returns why a request that Node has parsed must be refused (RFC 9112, sections 3.2 and 6.1); undefined if it may be served. */
function findFault({ headers, httpVersion }: IncomingMessage): string | undefined {
  const { host } = headers;
  // Node joins two `Host` headers with a comma and a space, and the pattern allows no space.
  if (host !== undefined && !hostPattern.test(host)) return 'The header `Host` is not the name of a host.';
  if (httpVersion === '1.1') return host === undefined ? 'The request has no Host header.' : undefined;
  return headers['transfer-encoding'] === undefined ? undefined : 'A request of HTTP/1.0 has no chunks.';
}
