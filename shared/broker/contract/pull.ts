import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { isProbing, type Announcement } from './announcement.ts';
import { parseJson } from './ticket.ts';

/** The number of tickets of each lane for which a worker with a free slot waits. When a ticket comes, the worker pulls more. */
export const ticketsPerLane = 1;

/**
 * Returns how many slots a worker keeps free of offers, for the tickets that it waits for. If offers could fill a worker, tickets would be
 * delivered to one full worker after the other. A probing worker keeps none, because it has only one slot for new jobs.
 */
export function countTicketSlots(announcement: Pick<Announcement, 'accepting' | 'reason'>): number {
  return isProbing(announcement) ? 0 : ticketsPerLane;
}

const pullSchema = z
  .object({
    pool: z.string().regex(/^[\w-]{1,64}$/),
    class: z.enum(priorityClasses),
    /** Maximum tickets to deliver. */
    batch: z.number().int().min(1).max(10_000),
    /** Milliseconds that the pull waits at the queue. Without it, JetStream delivers only the tickets that are there. */
    expiresMs: z.number().int().min(1_000).max(60_000).optional(),
    /** Milliseconds between JetStream's heartbeats while the pull waits; absent for no heartbeats. */
    heartbeatMs: z.number().int().min(3_000).optional(),
  })
  // JetStream refuses a pull whose heartbeats are more than half of its wait apart.
  .refine(({ expiresMs = 0, heartbeatMs = 0 }) => heartbeatMs * 2 <= expiresMs);

/**
 * A worker's request for tickets of one lane of its tier, published at `subjects.pull`. The tickets come to the request's reply subject,
 * which is in the worker's inbox.
 */
export type Pull = z.infer<typeof pullSchema>;

export function encodePull(pull: Pull): string {
  return JSON.stringify(pull);
}

export function decodePull(payload: Uint8Array): Pull | undefined {
  return parseJson(payload, pullSchema);
}
