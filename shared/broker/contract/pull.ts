import { z } from 'zod';
import { priorityClasses } from './lane.ts';
import { parseJson } from './ticket.ts';

/**
 * Tickets of each lane that a worker waits for while it has a free slot; when one comes, it looks for more. As many of its slots
 * are left to them: if offers could fill it up, tickets would be delivered to one full worker after the other.
 */
export const awaitedTickets = 1;

const pullSchema = z
  .object({
    pool: z.string().regex(/^[\w-]{1,64}$/),
    class: z.enum(priorityClasses),
    /** Tickets that it takes at most. */
    batch: z.number().int().min(1).max(10_000),
    /** Milliseconds that it waits for them at the queue; without it, it takes what is there. */
    expiresMs: z.number().int().min(1_000).max(60_000).optional(),
    /** Milliseconds between the server's signs of life while it waits; without it there are none. */
    heartbeatMs: z.number().int().min(3_000).optional(),
  })
  // The server takes no others.
  .refine(({ expiresMs = 0, heartbeatMs = 0 }) => heartbeatMs * 2 <= expiresMs);

/** A worker's wish for tickets of one lane of its tier. They come to the inbox it names. */
export type Pull = z.infer<typeof pullSchema>;

export function encodePull(pull: Pull): string {
  return JSON.stringify(pull);
}

export function decodePull(payload: Uint8Array): Pull | undefined {
  return parseJson(payload, pullSchema);
}
