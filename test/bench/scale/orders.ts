import { z } from 'zod';
import { modelOf } from '../peers/upstream/scenarios.ts';

/* What the simulator asks its stand-ins for, and what they answer. */

/** Tickets that may wait at a time, also where each of 100,000 requests waits in several pools. */
export const maxTickets = 1_000_000;

/** The model of all jobs, which the upstream of the real worker has as well. */
export const askedModel = modelOf('bench-whole', 'chat');

const place = { natsUrl: z.string(), prefix: z.string() };

export const workersOrder = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    ...place,
    count: z.number(),
    /** Kinds of engines among them: each is a pool. */
    pools: z.number(),
    /** Models of each. */
    models: z.number(),
    slots: z.number(),
    /** Milliseconds until an answer. */
    answerMs: z.number(),
  }),
  /** Loses so many of them without a good-bye. */
  z.object({ kind: z.literal('end'), count: z.number() }),
]);

export type WorkersOrder = z.infer<typeof workersOrder>;

/** How many there are now. */
export interface WorkersAnswer {
  workers: number;
}

export const ingressesOrder = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('start'), ...place, count: z.number() }),
  /** Sends jobs, over all ingress nodes together, at this rate; those that have not ended at the end are cancelled. */
  z.object({ kind: z.literal('load'), perSecond: z.number(), seconds: z.number() }),
  /** Has so many jobs wait, and cancels them after as many seconds. */
  z.object({ kind: z.literal('queue'), count: z.number(), seconds: z.number() }),
]);

export type IngressesOrder = z.infer<typeof ingressesOrder>;

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
