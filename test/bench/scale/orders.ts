import type { Logger } from '#shared/core/log.ts';
import { modelOf } from '../peers/upstream/scenarios.ts';

/* Orders of the simulator to its stand-ins, and their answers. */

/** Maximum waiting tickets, for the case that each of 100,000 requests waits in several pools. */
export const maxTickets = 1_000_000;

/** The model of all jobs, which the upstream of the real worker has as well. */
export const askedModel = modelOf('bench-whole', 'chat');

interface Start {
  kind: 'start';
  natsUrl: string;
  prefix: string;
  count: number;
}

export interface StartWorkers extends Start {
  /** Kinds of engines among them; each kind is a pool. */
  pools: number;
  models: number;
  slots: number;
  answerMs: number;
}

export type WorkersOrder =
  | StartWorkers
  /** Ends this number of workers without a good-bye. */
  | { kind: 'end'; count: number };

export interface WorkersAnswer {
  workers: number;
}

export type IngressesOrder =
  | Start
  /** Sends jobs, over all ingress nodes together, at this rate; jobs that have not ended at the end are cancelled. */
  | { kind: 'load'; perSecond: number; seconds: number }
  /** Makes this number of jobs wait, and cancels them after as many seconds. */
  | { kind: 'queue'; count: number; seconds: number };

export interface IngressesAnswer {
  /** Jobs that were sent, were answered, and failed in another way than by the cancellation at the end. */
  sent: number;
  done: number;
  failed: Record<string, number>;
  /** Milliseconds from the sending of a job to the claim of a worker. */
  routeMs: number[];
  /** The number of workers at the ingress node with the fewest. */
  workers: number;
}

/** Carries out the orders of the parent process, one after the other. A failed order ends the process, and so the simulation. */
export function takeOrders(log: Logger, obey: (order: never) => Promise<object>): void {
  process.on('message', (order) => {
    // The parent sends only orders that `obey` takes.
    obey(order as never).then(
      (answer) => process.send?.(answer),
      (error: unknown) => {
        log.fatal({ err: error }, 'an order failed');
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit());
}
