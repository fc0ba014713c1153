import { z } from 'zod';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { isProbing, type Announcement } from './announcement.ts';
import { parseJson } from './ticket.ts';

/**
 * Tickets of each lane that a worker waits for while it has a free slot; when one comes, it pulls more. As many of its slots
 * take no offers: if offers could fill a worker, tickets would be delivered to one full worker after the other. A worker that
 * probes has one slot for new jobs, which an offer may take.
 */
export const awaitedTickets = 1;

/** Slots of a worker that take no offers. */
export function slotsForTickets(announcement: Pick<Announcement, 'accepting' | 'reason'>): number {
  return isProbing(announcement) ? 0 : awaitedTickets;
}

const pullSchema = z
  .object({
    pool: z.string().regex(/^[\w-]{1,64}$/),
    class: z.enum(priorityClasses),
    /** Tickets at most. */
    batch: z.number().int().min(1).max(10_000),
    /** Milliseconds that the pull waits at the queue; without it, JetStream delivers what is there. */
    expiresMs: z.number().int().min(1_000).max(60_000).optional(),
    /** Milliseconds between JetStream's heartbeats while it waits; without it there are none. */
    heartbeatMs: z.number().int().min(3_000).optional(),
  })
  // JetStream refuses others.
  .refine(({ expiresMs = 0, heartbeatMs = 0 }) => heartbeatMs * 2 <= expiresMs);

/** A worker's pull for tickets of one lane of its tier, published at `subjects.pull`. They come to its reply subject, an inbox of the worker. */
export type Pull = z.infer<typeof pullSchema>;

export function encodePull(pull: Pull): string {
  return JSON.stringify(pull);
}

export function decodePull(payload: Uint8Array): Pull | undefined {
  return parseJson(payload, pullSchema);
}
