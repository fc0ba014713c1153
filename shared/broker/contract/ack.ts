import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { consumerName, maxSubjectLength, type Subjects } from './subjects.ts';
import { parseJson } from './ticket.ts';

/**
 * What becomes of a delivered ticket: `done` removes it from the queue, `back` delivers it to another worker at once, `later`
 * after a moment, `void` removes what is no ticket.
 */
export const ackKinds = ['done', 'back', 'later', 'void'] as const;
export type AckKind = (typeof ackKinds)[number];

/** Milliseconds before a ticket acked with `later` is delivered again. */
const laterMs = 100;

/** JetStream's payload for each kind. */
export const ackPayloads: Readonly<Record<AckKind, string>> = {
  done: '+ACK',
  back: '-NAK',
  later: `-NAK {"delay": ${laterMs * 1_000_000}}`,
  void: '+TERM',
};

const ackSchema = z.object({
  /** The subject at which JetStream takes the ack, as the ticket was delivered with it. */
  ticket: z.string().max(maxSubjectLength),
  as: z.enum(ackKinds),
});

/** A worker's ack of a ticket that it does not claim, published at `subjects.ack` to the ingress that it pulls through. */
export type Ack = z.infer<typeof ackSchema>;

export function encodeAck(ack: Ack): string {
  return JSON.stringify(ack);
}

export function decodeAck(payload: Uint8Array): Ack | undefined {
  return parseJson(payload, ackSchema);
}

/** The class of the lane of a pool that a ticket was delivered from, by the ack subject; undefined if it is no lane of the pool. */
export function classOfTicket(ticket: string, pool: string): PriorityClass | undefined {
  const tokens = ticket.split('.');
  const lane = tokens[tokens.length === 9 ? 3 : 5];
  return priorityClasses.find((name) => lane === consumerName({ pool, class: name }));
}

/**
 * Whether a subject, as a worker names it, is the ack subject of a ticket of this tier, and nothing else:
 * `$JS.ACK.<stream>.<lane>.<five numbers>`, on newer servers with domain, account and a last token besides.
 */
export function isTicketOf(subjects: Subjects, tier: Tier, ticket: string): boolean {
  if (!/^[\w$.@-]+$/.test(ticket)) return false;
  const tokens = ticket.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.includes('')) return false;
  const stream = subjects.stream(tier);
  if (tokens.length === 9) return tokens[2] === stream;
  // Read the older way, it must not be a ticket of another tier.
  const isNewer = tokens.length === 11 || tokens.length === 12;
  return isNewer && tokens[4] === stream && tiers.every((name) => tokens[2] !== subjects.stream(name));
}
