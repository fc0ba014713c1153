import { Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Logger } from '#shared/core/log.ts';
import type { OpenRequests } from './open-requests.ts';

/** Milliseconds for sending the errors of requests that the drain has ended. */
const lastErrorsMs = 500;

export interface DrainParts {
  open: OpenRequests;
  server: Server;
  dispatcher: Pick<Dispatcher, 'active' | 'drain'>;
  /** Milliseconds for load balancers to let go, and for running answers to finish after that. */
  leaveMs: number;
  drainMs: number;
  /** Is called when no connection is accepted any more: what another node can go on with ends. */
  onFinishing: () => void;
  /** Is called when the time is over: nothing is begun any more, and what runs is ended. */
  onEnding: () => void;
  log: Pick<Logger, 'info'>;
}

/** Leaves the clients to other nodes, and lets running answers finish. What is not over by then receives an error. */
export async function drainRequests(parts: DrainParts): Promise<void> {
  const { open, server, dispatcher, leaveMs, drainMs, onFinishing, onEnding, log } = parts;
  open.leave();
  log.info({ ms: leaveMs }, 'leaving: requests are still served');
  await pause(leaveMs);
  log.info({ active: dispatcher.active }, 'finishing running answers');
  // The server's own `close` also closes idle connections, on which a request may be on its way.
  Server.prototype.close.call(server);
  onFinishing();
  await open.drain(drainMs);
  onEnding();
  await dispatcher.drain(0);
  await open.drain(lastErrorsMs);
}
