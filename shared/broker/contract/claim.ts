import { z } from 'zod';
import { contractVersion } from './contract-range.ts';
import { formatName, operations } from './job-contract.ts';
import { parseJson } from './ticket.ts';

/** Bodies travel in parts of at most this many bytes, so that they meet no payload limit and delay no one's frames. */
export const bodyPartBytes = 512 * 1024;

const claimSchema = z.object({
  v: contractVersion,
  job: z.string(),
  /** The subject that the broker wants to be told at what becomes of the ticket: the answer settles it. */
  ticket: z.string(),
});

/** A worker's claim for a job that it holds a ticket of, in the ticket's version. Who claims is told by the subject. */
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
  /** What of the client's headers concerns an upstream; few and short. */
  headers: z.record(z.string(), z.string()).optional(),
  /** The attempt's place in a trace, when requests are traced. Workers of older releases pass over it. */
  trace: z.object({ traceparent: z.string(), tracestate: z.string().optional() }).optional(),
  /** Subject that the frames of this attempt go to, before kind and number. Nobody else can know it. */
  reply: z.string(),
  /** Bytes of the whole body, over all parts. */
  bodyBytes: z.number().int().nonnegative(),
});

const answerSchema = z.discriminatedUnion('answer', [
  grantSchema,
  /** The job is over, cancelled or unknown. */
  z.object({ answer: z.literal('gone') }),
  /** Another worker has the job. */
  z.object({ answer: z.literal('taken') }),
  /** Not this worker, it has just failed on the job: another one gets the ticket. */
  z.object({ answer: z.literal('later') }),
]);

export type Grant = z.infer<typeof grantSchema>;
export type ClaimAnswer = z.infer<typeof answerSchema>;

export function encodeClaim(claim: Claim): string {
  return JSON.stringify(claim);
}

export function decodeClaim(payload: Uint8Array): Claim | undefined {
  return parseJson(payload, claimSchema);
}

/** The first message of an answer: one line of JSON, then, for a grant, the first part of the body. */
export function encodeClaimAnswer(answer: ClaimAnswer, firstPart: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(answer)}\n`), firstPart]);
}

export function decodeClaimAnswer(payload: Uint8Array): { answer: ClaimAnswer; firstPart: Uint8Array } | undefined {
  const newline = payload.indexOf(0x0a);
  const answer = newline < 0 ? undefined : parseJson(payload.subarray(0, newline), answerSchema);
  return answer && { answer, firstPart: payload.subarray(newline + 1) };
}

/** Reads a grant that has the whole body with it; undefined for anything else. */
export function decodeGrant(payload: Uint8Array): { grant: Grant; body: Buffer } | undefined {
  const { answer, firstPart } = decodeClaimAnswer(payload) ?? {};
  if (answer?.answer !== 'grant' || !firstPart || firstPart.length !== answer.bodyBytes) return undefined;
  return { grant: answer, body: Buffer.from(firstPart.buffer, firstPart.byteOffset, firstPart.byteLength) };
}
