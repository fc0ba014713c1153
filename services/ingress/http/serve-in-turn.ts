import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { RouterError } from '#shared/core/errors.ts';

/** Requests of a connection that may wait for the answer to the one before them. */
const maxWaiting = 8;

/**
 * Makes a listener that serves one request of a connection at a time. Node parses all that it has read of a connection at once, which is
 * more than two thousand pipelined requests, and passes each on, even of a connection that is closed meanwhile.
 * @param serve is called with a request whose answer can be sent, and with no other
 * @param refuse answers a connection on which too many requests wait, or whose request names no host, and ends it
 */
export function serveInTurn(
  serve: RequestListener,
  refuse: (error: RouterError, socket: Duplex) => void,
): RequestListener {
  const waiting = new WeakMap<Duplex, number>();

  function end(error: RouterError, socket: Duplex): void {
    refuse(error, socket);
    // What was parsed stays in memory until the connection is closed. The answer leaves in this turn of the event loop.
    setImmediate(() => socket.destroy());
  }

  function wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const before = waiting.get(socket) ?? 0;
    if (before >= maxWaiting) return end(tooManyWaiting(), socket);
    waiting.set(socket, before + 1);
    // Node emits it when it gives the connection to an answer.
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // The answer before it closes first.
      process.nextTick(() => {
        if (socket.writable) serve(request, response);
      });
    });
  }

  return (request, response) => {
    const { socket } = request;
    if (!socket.writable) return;
    if (request.headers.host === undefined && request.httpVersion === '1.1') return end(noHost(), socket);
    if (response.socket) serve(request, response);
    else wait(request, response);
  };
}

function tooManyWaiting(): RouterError {
  const message = `More than ${maxWaiting} requests wait for their turn on this connection. Wait for answers, or open more connections.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 1 });
}

/** RFC 9112, section 3.2. */
function noHost(): RouterError {
  return new RouterError('invalid_request', 'The request has no Host header.');
}
