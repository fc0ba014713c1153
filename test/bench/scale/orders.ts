import type { Logger } from '#shared/core/log.ts';
import { modelOf } from '../peers/upstream/scenarios.ts';

/* What the simulator asks its stand-ins for, and what they answer. */

/** Tickets that may wait at a time, also where each of 100,000 requests waits in several pools. */
export const maxTickets = 1_000_000;

/** The model of all jobs, which the upstream of the real worker has as well. */
export const askedModel = modelOf('bench-whole', 'chat');

/** Where a stand-in is started. */
interface Start {
  kind: 'start';
  natsUrl: string;
  prefix: string;
  count: number;
}

export interface StartWorkers extends Start {
  /** Kinds of engines among them: each is a pool. */
  pools: number;
  /** Models of each. */
  models: number;
  slots: number;
  /** Milliseconds until an answer. */
  answerMs: number;
}

export type WorkersOrder =
  | StartWorkers
  /** Loses so many of them without a good-bye. */
  | { kind: 'end'; count: number };

/** How many there are now. */
export interface WorkersAnswer {
  workers: number;
}

export type IngressesOrder =
  | Start
  /** Sends jobs, over all ingress nodes together, at this rate; those that have not ended at the end are cancelled. */
  | { kind: 'load'; perSecond: number; seconds: number }
  /** Has so many jobs wait, and cancels them after as many seconds. */
  | { kind: 'queue'; count: number; seconds: number };

export interface IngressesAnswer {
  /** Jobs that were sent, were answered, and failed otherwise than by being cancelled at the end. */
  sent: number;
  done: number;
  failed: Record<string, number>;
  /** Milliseconds from the sending of a job to the claim of a worker. */
  routeMs: number[];
  /** Workers that the ingress node with the fewest knows. */
  workers: number;
}

/** Obeys the orders of the parent process, one after the other. One that fails ends the process, and so the simulation. */
export function takeOrders(log: Logger, obey: (order: never) => Promise<object>): void {
  process.on('message', (order) => {
    // The parent sends what `obey` takes.
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
