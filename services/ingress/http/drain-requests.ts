import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Logger } from '#shared/core/log.ts';
import type { OpenRequests } from './open-requests.ts';

/** Milliseconds for sending the errors of the requests that the drain has ended. */
const lastErrorsMs = 500;

export interface DrainParts {
  openRequests: OpenRequests;
  server: Server;
  dispatcher: Pick<Dispatcher, 'activeJobs' | 'drain'>;
  /** Milliseconds for load balancers to stop sending requests. */
  leaveMs: number;
  /** Milliseconds after `leaveMs` for running answers to finish. */
  drainMs: number;
  /** Called once the server accepts no more connections. Ends streams that the client can continue at another node. */
  onClosed: () => void;
  /** Called when `drainMs` are over. From then on, no request may start, and running requests are ended. */
  onEnding: () => void;
  log: Pick<Logger, 'info'>;
}

/**
 * Drains the ingress: sends clients to other nodes, then lets running answers finish. Answers still running after `drainMs` receive an
 * error.
 */
export async function drainRequests(parts: DrainParts): Promise<void> {
  const { openRequests, server, dispatcher, leaveMs, drainMs, onClosed, onEnding, log } = parts;
  openRequests.startLeaving();
  log.info({ ms: leaveMs }, 'leaving: requests are still served');
  await pause(leaveMs);
  log.info({ active: dispatcher.activeJobs }, 'finishing running answers');
  // The server's own `close` also closes idle connections, on which a request may be on its way.
  Server.prototype.close.call(server);
  onClosed();
  await openRequests.drain(drainMs);
  onEnding();
  await dispatcher.drain(0);
  await openRequests.drain(lastErrorsMs);
}
