import type { Express } from 'express';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '#shared/core/log.ts';
import type { TlsFolder } from '#shared/core/tls/tls-folder.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { createBrokenRequestListener } from './answer-broken-request.ts';
import { type DirectRoute, serveDirectly } from './direct-routes.ts';
import { createMessageClasses } from './message-classes.ts';
import { type NatsRelay, opensRelay } from './nats-relay.ts';
import type { OpenRequests } from './open-requests.ts';
import type { CountRefusal } from './answer-error.ts';
import { maxHeaders, serveInTurn } from './serve-in-turn.ts';
import { serveTls } from './serve-tls.ts';
import type { WaitingConnections } from './waiting-connections.ts';

/** Milliseconds within which the headers of a request must arrive. */
const headersTimeoutMs = 20_000;

/**
 * Milliseconds within which a request must arrive completely. Only file uploads may need that long, because other bodies have a limit of
 * their own (`bodyTimeoutMs`).
 */
const uploadTimeoutMs = 3_600_000;

/** Milliseconds between two checks for requests that arrive too slowly. */
const checkSlowMs = 1_000;

/** Milliseconds without traffic after which TCP checks whether the client's machine still answers. */
const probeClientMs = 30_000;

/** Milliseconds for which idle keep-alive connections stay open: longer than load balancers keep their connections open. */
const keepAliveTimeoutMs = 75_000;

export interface ClientServerParts {
  log: Logger;
  openRequests: OpenRequests;
  countRefusal: CountRefusal;
  bodyTimeoutMs: number;
  waitingConnections: WaitingConnections;
  /** Routes that are served without the app. */
  directRoutes: readonly DirectRoute[];
  /** Absent if workers do not reach NATS through this port. */
  relay?: NatsRelay | undefined;
  /** The certificate with which the server also serves HTTPS; absent for plain HTTP alone. */
  tls?: TlsFolder | undefined;
}

/** Creates the HTTP server for clients. Requests that are not valid HTTP receive an error in the first client format. */
export function createClientServer(
  app: Express,
  { log, openRequests, countRefusal, bodyTimeoutMs, waitingConnections, directRoutes, relay, tls }: ClientServerParts,
): Server {
  const isAnswering = (socket: Duplex): boolean => openRequests.isAnswering(socket);
  const answerBroken = createBrokenRequestListener(clientFormats[0], { log, countRefusal, isAnswering });
  const serve = serveInTurn(waitingConnections.wrap(serveDirectly(app, directRoutes, log)), answerBroken);
  const startTimeoutMs = Math.min(headersTimeoutMs, bodyTimeoutMs);
  const server = createServer(
    {
      ...createMessageClasses(app),
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: startTimeoutMs,
      requestTimeout: Math.max(uploadTimeoutMs, bodyTimeoutMs + 10_000),
      connectionsCheckingInterval: checkSlowMs,
      keepAlive: true,
      keepAliveInitialDelay: probeClientMs,
      // `serveInTurn` refuses requests without a host, because answers that Node sends itself do not wait for their turn.
      requireHostHeader: false,
      // By default, Node drops the second of two `Host` or `Authorization` headers, and a proxy in front may have read the second.
      joinDuplicateHeaders: true,
      // Node forgets an unfinished answer when it hands over the connection, so a request behind another one stays with the app.
      ...(relay && {
        shouldUpgradeCallback: (request) => opensRelay(request) && !openRequests.hasOpen(request.socket),
      }),
    },
    serve,
  );
  // One more than a request may have, so that `serveInTurn` sees that there are too many.
  server.maxHeadersCount = maxHeaders + 1;
  if (tls) serveTls(server, { tls, startTimeoutMs, waitingConnections, log });
  server.on('connection', waitingConnections.open);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    acceptBodyWhenRead(request, response);
    serve(request, response);
  });
  // Other expectations are ignored, which RFC 9110, section 10.1.1, permits.
  server.on('checkExpectation', serve);
  server.on('clientError', answerBroken);
  if (relay)
    server.on('upgrade', (request, connection, head) => {
      waitingConnections.release(connection);
      relay.relay(request, connection, head);
    });
  return server;
}

/**
 * Sends `100 Continue` to a client that holds back its body (`Expect: 100-continue`) as soon as a handler begins to read the body. By then,
 * the key and the length have been checked. A client whose request is refused earlier receives the error, and sends no body.
 */
export function acceptBodyWhenRead(request: IncomingMessage, response: ServerResponse): void {
  const onListener = (event: string | symbol): void => {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onListener);
    if (!response.headersSent) response.writeContinue();
  };
  request.on('newListener', onListener);
}
