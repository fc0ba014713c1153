import { z } from 'zod';
import { operations } from '#shared/core/operation.ts';
import { contractVersion } from './contract-range.ts';
import { formatName, serverConnection } from './job-contract.ts';
import { maxSubjectLength } from './subjects.ts';
import { parseJson } from './ticket.ts';

/** Bytes of one part of a body, at most: below NATS's payload limit, and short enough not to delay other jobs' frames. */
export const bodyPartBytes = 512 * 1024;

/** Stands for the ack subject of a ticket that came from its ingress itself: there is nothing to ack. */
export const handedOver = '';

const count = z.number().int().nonnegative();

const claimSchema = z.object({
  v: contractVersion,
  job: z.string().max(64),
  /** JetStream's ack subject for the ticket: the ingress that answers the claim acks the ticket, too. Or `handedOver`. */
  ticket: z.string().max(maxSubjectLength),
});

/**
 * A worker's claim for the job of a ticket, in the ticket's version of the contract, published at `subjects.claim` to the ingress
 * that the ticket names. The subject names the worker.
 */
export type Claim = z.infer<typeof claimSchema>;

const grantSchema = z.object({
  answer: z.literal('grant'),
  v: contractVersion,
  job: z.string(),
  requestId: z.string(),
  operation: z.enum(operations),
  format: formatName,
  stream: z.boolean(),
  model: z.string(),
  /** The client's headers that concern an upstream, names in lower case; few and short. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The id of the answer, where the ingress may begin the answer before a worker does. */
  answerId: z.string().optional(),
  /**
   * The keys, derived for the request's owner, of what its answers carry for later requests: the first seals, all open. 32 bytes
   * each as base64url, separated by dots.
   */
  ownerKey: z.string().optional(),
  /** The connection to use of the person who calls a tool; absent for all other jobs. */
  connection: serverConnection.optional(),
  /** See `UnreadLists`. Absent where the worker reads all of the body, and from older releases. */
  unread: z
    .object({ lists: z.record(z.string(), count), inputTokens: count })
    .optional()
    .catch(undefined),
  /** The attempt's place in a trace, when requests are traced. */
  trace: z.object({ traceparent: z.string(), tracestate: z.string().optional() }).optional(),
  /** Subject of this attempt's frames, before kind and number. Nobody else can know it. */
  reply: z.string(),
  /** Whether the ingress reads frames whose number is not in their subject, see `numberedBeside`. Absent from older releases. */
  numbersBeside: z.boolean().optional().catch(undefined),
  /** Bytes of the whole body, over all parts. */
  bodyBytes: count,
  /**
   * The last so many of them are what the client has of the answer, in its format: the worker is to continue it. Only workers whose
   * model has the capability `continue` get such a grant. Absent for an answer that has not begun.
   */
  relayedBytes: count.optional(),
});

const answerSchema = z.discriminatedUnion('answer', [
  grantSchema,
  /** The job is over or unknown. */
  z.object({ answer: z.literal('gone') }),
  /** Another worker has the job. */
  z.object({ answer: z.literal('taken') }),
  /** This worker has just failed on the job, or is not known yet: the ticket is delivered again. */
  z.object({ answer: z.literal('later') }),
]);

/** A job for a worker: the answer to its claim, or an offer. The body's first part follows in the same message. */
export type Grant = z.infer<typeof grantSchema>;
/** An ingress's answer to a claim, at the inbox that the claim names. A grant's further parts follow as messages of raw bytes. */
export type ClaimAnswer = z.infer<typeof answerSchema>;

export function encodeClaim(claim: Claim): string {
  return JSON.stringify(claim);
}

export function decodeClaim(payload: Uint8Array): Claim | undefined {
  return parseJson(payload, claimSchema);
}

/** The first message of an answer, or an offer: one line of JSON, then, for a grant, the first part of the body. */
export function encodeClaimAnswer(answer: ClaimAnswer, firstPart: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(answer)}\n`), firstPart]);
}

export function decodeClaimAnswer(payload: Uint8Array): { answer: ClaimAnswer; firstPart: Uint8Array } | undefined {
  const newline = payload.indexOf(0x0a);
  const answer = newline < 0 ? undefined : parseJson(payload.subarray(0, newline), answerSchema);
  return answer && { answer, firstPart: payload.subarray(newline + 1) };
}

/** Reads an offer: a grant with its whole body. Undefined for anything else. */
export function decodeGrant(payload: Uint8Array): { grant: Grant; body: Buffer } | undefined {
  const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
  if (answer?.answer !== 'grant' || !firstPart || firstPart.length !== answer.bodyBytes) return undefined;
  return { grant: answer, body: Buffer.from(firstPart.buffer, firstPart.byteOffset, firstPart.byteLength) };
}
