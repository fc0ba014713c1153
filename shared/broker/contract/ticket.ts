import { z } from 'zod';
import { contractVersion } from './contract-range.ts';

/**
 * What waits in a lane for a worker, published at `subjects.jobs` and delivered by JetStream: which job to claim, and from which
 * ingress. Never the body. `v` is the version of the contract that the ingress speaks with the workers of the lane.
 */
const ticketSchema = z.object({ v: contractVersion, ingress: z.string(), job: z.string() });

/** One for all messages: making one takes longer than decoding a message. */
const text = new TextDecoder();

export type Ticket = z.infer<typeof ticketSchema>;

export function encodeTicket(ticket: Ticket): string {
  return JSON.stringify(ticket);
}

/** Reads a ticket; undefined for anything else. */
export function decodeTicket(payload: Uint8Array): Ticket | undefined {
  return parseJson(payload, ticketSchema);
}

/** Reads a small JSON message of the broker contract; undefined when it is not of the expected shape. */
export function parseJson<T extends z.ZodType>(payload: Uint8Array, schema: T): z.output<T> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text.decode(payload));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return schema.safeParse(value).data;
}
