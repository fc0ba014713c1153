import { z } from 'zod';
import { operations } from '#shared/core/operation.ts';
import { contractVersion } from './contract-range.ts';
import { formatNameSchema, mcpAccountLinkSchema } from './job-contract.ts';
import { maxSubjectLength } from './subjects.ts';
import { parseJson } from './ticket.ts';

/** Maximum bytes of one part of a body: below NATS's payload limit, and short enough not to delay other jobs' frames. */
export const bodyPartBytes = 512 * 1024;

/**
 * Takes the place of the ack subject in a claim whose ticket came straight from its dispatcher. Such a ticket is not in the queue and needs
 * no ack.
 */
export const noAckSubject = '';

const count = z.number().int().nonnegative();

const claimSchema = z.object({
  v: contractVersion,
  job: z.string().max(64),
  /** JetStream's ack subject for the ticket, or `noAckSubject`. The dispatcher that answers the claim acks the ticket there. */
  ticket: z.string().max(maxSubjectLength),
});

/**
 * A worker's claim for the job of a ticket, in the ticket's version of the contract. The worker publishes it at `subjects.claim` to the
 * dispatcher that the ticket names; the subject names the worker.
 */
export type Claim = z.infer<typeof claimSchema>;

const grantSchema = z.object({
  answer: z.literal('grant'),
  v: contractVersion,
  job: z.string(),
  requestId: z.string(),
  operation: z.enum(operations),
  format: formatNameSchema,
  stream: z.boolean(),
  model: z.string(),
  /** The client's headers that an upstream needs, with names in lower case. They are few and short. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The id that the answer must have, if the dispatcher may begin the answer before a worker does. */
  answerId: z.string().optional(),
  /**
   * Keys of the request's owner for content that an answer hands to later requests. The worker seals content with the first key, and opens
   * content with any of them. Each key is 32 bytes as base64url; dots separate the keys.
   */
  ownerKey: z.string().optional(),
  /**
   * Names the request's owner for the turns that a worker gives to owners. The worker cannot tell who the owner is. Present in tool calls.
   */
  ownerMark: z.string().optional(),
  /** The MCP account link of the person who calls a tool; absent if the job does not use such a link. */
  connection: mcpAccountLinkSchema.optional(),
  /** See `UnreadLists`. Absent if the worker reads the whole body. */
  unread: z
    .object({ lists: z.record(z.string(), count), inputTokens: count })
    .optional()
    .catch(undefined),
  /** The attempt's trace context, if requests are traced. */
  trace: z.object({ traceparent: z.string(), tracestate: z.string().optional() }).optional(),
  /** The subject of this attempt's frames, before kind and number. No other worker can guess it. */
  reply: z.string(),
  /** Bytes of the whole body, over all parts. */
  bodyBytes: count,
  /**
   * The length in bytes of the part of the answer that the client already has. This part is at the end of the body, in the client's format,
   * and the worker continues it. Only workers whose model has the capability `continue` get such a grant. Absent for an answer that has not
   * begun.
   */
  relayedBytes: count.optional(),
});

const answerSchema = z.discriminatedUnion('answer', [
  grantSchema,
  /** The job has ended, or the dispatcher never had it. */
  z.object({ answer: z.literal('gone') }),
  /** Another worker has the job. */
  z.object({ answer: z.literal('taken') }),
  /** This worker has just failed on the job, or the dispatcher has no announcement of the worker yet. The ticket is delivered again. */
  z.object({ answer: z.literal('later') }),
]);

/**
 * A job for a worker: the answer to its claim, or an offer, which has the same content. The first part of the body follows in the same
 * message.
 */
export type Grant = z.infer<typeof grantSchema>;

/** The fields of a request that reach the worker's handler as the dispatcher got them. */
type RequestFields = Pick<
  Grant,
  | 'requestId'
  | 'operation'
  | 'format'
  | 'stream'
  | 'headers'
  | 'answerId'
  | 'ownerKey'
  | 'ownerMark'
  | 'connection'
  | 'unread'
>;

/** Copies the fields of a request that a grant carries unchanged, from the request or from the grant. */
export function copyRequestFields(source: RequestFields): RequestFields {
  const { requestId, operation, format, stream, headers, answerId, ownerKey, ownerMark, connection, unread } = source;
  return { requestId, operation, format, stream, headers, answerId, ownerKey, ownerMark, connection, unread };
}

/**
 * A dispatcher's answer to a claim, published to the inbox that the claim names. The further parts of a granted body follow as messages
 * that contain nothing else.
 */
export type ClaimAnswer = z.infer<typeof answerSchema>;

export function encodeClaim(claim: Claim): string {
  return JSON.stringify(claim);
}

export function decodeClaim(payload: Uint8Array): Claim | undefined {
  return parseJson(payload, claimSchema);
}

/** Encodes an offer, or the first message of an answer to a claim: one line of JSON, then, for a grant, the first part of the body. */
export function encodeClaimAnswer(answer: ClaimAnswer, firstPart: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(answer)}\n`), firstPart]);
}

export function decodeClaimAnswer(payload: Uint8Array): { answer: ClaimAnswer; firstPart: Uint8Array } | undefined {
  const newline = payload.indexOf(0x0a);
  const answer = newline < 0 ? undefined : parseJson(payload.subarray(0, newline), answerSchema);
  return answer && { answer, firstPart: payload.subarray(newline + 1) };
}

/** Decodes an offer, which is a grant with its whole body; undefined for anything else. */
export function decodeGrant(payload: Uint8Array): { grant: Grant; body: Buffer } | undefined {
  const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
  if (answer?.answer !== 'grant' || !firstPart || firstPart.length !== answer.bodyBytes) return undefined;
  return { grant: answer, body: Buffer.from(firstPart.buffer, firstPart.byteOffset, firstPart.byteLength) };
}
