import { createServer, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '#shared/core/log.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { acceptWhenRead } from './accept-body.ts';
import { answerBrokenRequest } from './answer-broken-request.ts';
import type { OpenRequests } from './open-requests.ts';
import type { CountRefusal } from './refused-request.ts';

const headersTimeoutMs = 20_000;

/**
 * Milliseconds for a request to arrive whole. Only file uploads take that long: other bodies have a limit of their own (`bodyTimeoutMs`).
 */
const uploadTimeoutMs = 3_600_000;

/** Milliseconds between two checks for requests that arrive too slowly. */
const checkSlowMs = 1_000;

/** Milliseconds without traffic after which TCP probes the client's machine. */
const probeClientMs = 30_000;

/** Milliseconds for which idle keep-alive connections stay open; longer than load balancers keep theirs. */
const keepAliveTimeoutMs = 75_000;

export interface ClientServerParts {
  log: Logger;
  open: OpenRequests;
  countRefusal: CountRefusal;
  bodyTimeoutMs: number;
}

/** Creates the HTTP server for clients. Requests that are not valid HTTP are answered in the first client format. */
export function createClientServer(
  app: RequestListener,
  { log, open, countRefusal, bodyTimeoutMs }: ClientServerParts,
): Server {
  const server = createServer(
    {
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: Math.min(headersTimeoutMs, bodyTimeoutMs),
      requestTimeout: Math.max(uploadTimeoutMs, bodyTimeoutMs + 10_000),
      connectionsCheckingInterval: checkSlowMs,
      keepAlive: true,
      keepAliveInitialDelay: probeClientMs,
    },
    app,
  );
  server.on('checkContinue', (request, response) => {
    acceptWhenRead(request, response);
    app(request, response);
  });
  const isAnswering = (socket: Duplex): boolean => open.isAnswering(socket);
  server.on('clientError', answerBrokenRequest(clientFormats[0], { log, countRefusal, isAnswering }));
  return server;
}
