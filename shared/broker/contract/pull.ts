import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { isProbing, type Announcement } from './announcement.ts';
import { parseJson } from './ticket.ts';

/** The number of tickets for which a worker with a free slot waits in each lane. When a ticket comes, the worker pulls more. */
export const ticketsPerLane = 1;

/**
 * Returns the number of slots that a worker keeps free of offers, for tickets. If offers could fill a worker, tickets would be delivered to
 * one full worker after the other. A probing worker keeps no slot free, because it has only one slot for new jobs.
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
    /** Milliseconds that the pull waits at the queue. Absent: JetStream delivers only the tickets that are in the queue already. */
    expiresMs: z.number().int().min(1_000).max(60_000).optional(),
    /** Milliseconds between JetStream's heartbeats while the pull waits; absent for no heartbeats. */
    heartbeatMs: z.number().int().min(3_000).optional(),
  })
  // JetStream refuses a pull with a heartbeat interval of more than half of its wait.
  .refine(({ expiresMs = 0, heartbeatMs = 0 }) => heartbeatMs * 2 <= expiresMs);

/**
 * A worker's request for tickets of one lane of its tier, published at `subjects.pull`. The tickets come to the reply subject of the
 * request, which is in the worker's inbox.
 */
export type Pull = z.infer<typeof pullSchema>;

export function encodePull(pull: Pull): string {
  return JSON.stringify(pull);
}

export function decodePull(payload: Uint8Array): Pull | undefined {
  return parseJson(payload, pullSchema);
}
