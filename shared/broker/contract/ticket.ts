import { z } from 'zod';
import { contractVersion } from './contract-range.ts';

/**
 * A message that waits in a lane for a worker. It names the job to claim and the job's dispatcher. Published at `subjects.jobs` and
 * delivered by JetStream. It never contains the body. `v` is the version of the contract that the dispatcher speaks with the lane's
 * workers.
 */
const ticketSchema = z.object({ v: contractVersion, ingress: z.string(), job: z.string() });

/** Shared by all messages, because creating a decoder takes longer than decoding a message. */
const decoder = new TextDecoder();

export type Ticket = z.infer<typeof ticketSchema>;

export function encodeTicket(ticket: Ticket): string {
  return JSON.stringify(ticket);
}

export function decodeTicket(payload: Uint8Array): Ticket | undefined {
  return parseJson(payload, ticketSchema);
}

/** Parses a small JSON message of the broker contract; undefined if it does not match the schema. */
export function parseJson<T extends z.ZodType>(payload: Uint8Array, schema: T): z.output<T> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(payload));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return schema.safeParse(value).data;
}
