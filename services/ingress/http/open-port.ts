import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Express } from 'express';
import { listen } from '#shared/core/listen.ts';
import { TlsFolder } from '#shared/core/tls/tls-folder.ts';
import type { IngressContext } from '../context.ts';
import type { CountRefusal } from './answer-error.ts';
import { createClientServer } from './client-server.ts';
import type { DirectRoute } from './direct-routes.ts';
import { computeMaxRelayed, NatsRelay } from './nats-relay.ts';
import { computeMaxWaitingConnections, createPeerCheck, WaitingConnections } from './waiting-connections.ts';

/** Milliseconds for sending the errors of the requests that the drain has ended. */
const lastErrorsMs = 500;

export interface PortParts {
  app: Express;
  directRoutes: readonly DirectRoute[];
  countRefusal: CountRefusal;
  /** Called once the port accepts no more connections. Ends streams that their clients continue at another node. */
  onClosed: () => void;
}

/**
 * Opens the port for clients, as soon as workers had the time to announce themselves. The release lets running answers finish.
 * @returns the address of the port
 * @throws the system's error if the port is taken
 */
export async function openPort(context: IngressContext, { app, directRoutes, countRefusal, onClosed }: PortParts) {
  const { config, serving, openRequests, closing, ending, log, releases } = context;
  const memory = process.constrainedMemory();
  const { NATS_RELAY_URL: relayUrl, TLS_FOLDER: tlsFolder } = config;
  const relay =
    relayUrl === undefined ? undefined : new NatsRelay({ url: relayUrl, max: computeMaxRelayed(memory), log });
  const server = createClientServer(app, {
    log,
    openRequests,
    countRefusal,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    directRoutes,
    relay,
    tls: tlsFolder === undefined ? undefined : new TlsFolder(tlsFolder),
    waitingConnections: new WaitingConnections(
      computeMaxWaitingConnections(memory),
      createPeerCheck(config.TRUSTED_PROXIES),
    ),
  });
  await serving.workersAnnounced;
  await listen(server, config.PORT, config.HOST, releases);
  releases.add('running answers', drain);
  return server.address();

  /** Sends clients to other nodes, then lets running answers finish. Answers that still run after `DRAIN_MS` receive an error. */
  async function drain(): Promise<void> {
    const { dispatcher } = serving;
    openRequests.startLeaving();
    log.info({ ms: config.LEAVE_MS }, 'leaving: requests are still served');
    await pause(config.LEAVE_MS);
    log.info({ active: dispatcher.activeJobs, drainMs: config.DRAIN_MS }, 'finishing running answers');
    // The server's own `close` also closes idle connections, on which a request may be on its way.
    Server.prototype.close.call(server);
    // The clients of these streams continue at another node.
    closing.abort();
    onClosed();
    await openRequests.drain(config.DRAIN_MS);
    ending.abort();
    await dispatcher.drain(0);
    await openRequests.drain(lastErrorsMs);
    // Last, because workers answer requests of other nodes through this one.
    relay?.close();
  }
}
