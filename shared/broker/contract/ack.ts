import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { formatConsumerName, maxSubjectLength, type Subjects } from './subjects.ts';
import { parseJson } from './ticket.ts';

/**
 * The effect of an ack on a delivered ticket:
 *
 * - `done` removes the ticket from the queue;
 * - `back` delivers the ticket again at once, to another worker;
 * - `later` delivers the ticket again after a moment;
 * - `void` removes the message, which is not a ticket.
 */
export const ackKinds = ['done', 'back', 'later', 'void'] as const;
export type AckKind = (typeof ackKinds)[number];

/** Milliseconds before a ticket acked with `later` is delivered again. */
const redeliveryDelayMs = 100;

export const ackPayloads: Readonly<Record<AckKind, string>> = {
  done: '+ACK',
  back: '-NAK',
  later: `-NAK {"delay": ${redeliveryDelayMs * 1_000_000}}`,
  void: '+TERM',
};

const ackSchema = z.object({
  /** JetStream's ack subject for the ticket: the reply subject of its delivery. */
  ticket: z.string().max(maxSubjectLength),
  as: z.enum(ackKinds),
});

/** A worker's ack of a ticket that it does not claim, published at `subjects.ack` to the dispatcher through which the worker pulls. */
export type Ack = z.infer<typeof ackSchema>;

export function encodeAck(ack: Ack): string {
  return JSON.stringify(ack);
}

export function decodeAck(payload: Uint8Array): Ack | undefined {
  return parseJson(payload, ackSchema);
}

/** Reads the class of a ticket's lane from the ticket's ack subject. Returns undefined if the lane does not belong to the pool. */
export function readTicketClass(ackSubject: string, pool: string): PriorityClass | undefined {
  const tokens = ackSubject.split('.');
  const lane = tokens[tokens.length === 9 ? 3 : 5];
  return priorityClasses.find((name) => lane === formatConsumerName({ pool, class: name }));
}

/**
 * Whether a subject that a worker sent is the ack subject of a ticket of this tier: `$JS.ACK.<stream>.<lane>.<five numbers>`. In the layout
 * of newer servers, the domain and the account come before the stream, and a further token may come at the end.
 */
export function isTicketAckSubject(subjects: Subjects, tier: Tier, ackSubject: string): boolean {
  if (!/^[\w$.@-]+$/.test(ackSubject)) return false;
  const tokens = ackSubject.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.includes('')) return false;
  const stream = subjects.stream(tier);
  if (tokens.length === 9) return tokens[2] === stream;
  // A server that uses the shorter layout may also read a longer subject. In that reading, the subject must not name a ticket of another
  // tier.
  const isNewerLayout = tokens.length === 11 || tokens.length === 12;
  return isNewerLayout && tokens[4] === stream && tiers.every((name) => tokens[2] !== subjects.stream(name));
}
