import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { isProbing, type Announcement } from './announcement.ts';
import { parseJson } from './ticket.ts';

/**
 * The number of tickets of each lane for which a worker with a free slot waits; when one comes, the worker pulls more. The same number of
 * its slots takes no offers. If offers could fill a worker, tickets would be delivered to one full worker after the other. A probing worker
 * has one slot for new jobs, and an offer may take it.
 */
export const ticketsPerLane = 1;

export function slotsForTickets(announcement: Pick<Announcement, 'accepting' | 'reason'>): number {
  return isProbing(announcement) ? 0 : ticketsPerLane;
}

const pullSchema = z
  .object({
    pool: z.string().regex(/^[\w-]{1,64}$/),
    class: z.enum(priorityClasses),
    batch: z.number().int().min(1).max(10_000),
    /** Milliseconds that the pull waits at the queue. Without it, JetStream delivers only the tickets that are there. */
    expiresMs: z.number().int().min(1_000).max(60_000).optional(),
    /** Milliseconds between JetStream's heartbeats while the pull waits; absent for no heartbeats. */
    heartbeatMs: z.number().int().min(3_000).optional(),
  })
  // JetStream refuses heartbeats that are longer than half of the wait.
  .refine(({ expiresMs = 0, heartbeatMs = 0 }) => heartbeatMs * 2 <= expiresMs);

/**
 * A worker's pull for tickets of one lane of its tier, published at `subjects.pull`. The tickets come to the pull's reply subject, an
 * inbox of the worker.
 */
export type Pull = z.infer<typeof pullSchema>;

export function encodePull(pull: Pull): string {
  return JSON.stringify(pull);
}

export function decodePull(payload: Uint8Array): Pull | undefined {
  return parseJson(payload, pullSchema);
}
