import express, { type RequestHandler } from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createErrorHandler } from '#services/ingress/http/answer-error.ts';
import { type ClientServerParts, createClientServer } from '#services/ingress/http/client-server.ts';
import { OpenRequests } from '#services/ingress/http/open-requests.ts';
import { refuseUpgrade } from '#services/ingress/http/refuse-paths.ts';
import { assignRequestId } from '#services/ingress/http/request-id.ts';
import { WaitingConnections } from '#services/ingress/http/waiting-connections.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { silentLog as log } from '../silent-log.ts';

/** Starts the ingress's server for clients without the ingress, until the end of the running test. */
export async function startClientServer(handle: RequestHandler, parts: Partial<ClientServerParts> = {}) {
  const openRequests = new OpenRequests();
  const countRefusal = () => undefined;
  const app = express();
  app.use(openRequests.track, assignRequestId, refuseUpgrade, handle);
  app.use(createErrorHandler(clientFormats[0], { log, countRefusal }));
  const server = createClientServer(app, {
    log,
    openRequests,
    countRefusal,
    bodyTimeoutMs: 60_000,
    waitingConnections: new WaitingConnections(100, () => true),
    directRoutes: [],
    ...parts,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, openRequests, server };
}
