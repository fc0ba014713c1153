import { z } from 'zod';
import { RouterError, isErrorCode, type ErrorCode } from '#shared/core/errors.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { units } from '#shared/core/usage.ts';
import { continuationFailures } from '#shared/core/cannot-continue.ts';
import type { JobEnd } from './job-contract.ts';
import { parseJson } from './ticket.ts';

/** A count that a worker reports. An impossible value is corrected, not refused, because the answer would otherwise lose its end. */
const count = z
  .number()
  .transform((value) => Math.min(Math.max(Math.trunc(value), 0), Number.MAX_SAFE_INTEGER))
  .catch(0);

/** A text that is cut after this many characters. */
const cut = (length: number) => z.string().transform((text) => text.slice(0, length));

/** Maximum seconds for which a worker can make clients and batches wait. Limits of accounts may end after a week. */
const maxRetryAfter = 7 * 24 * 3600;

/** Errors that only a dispatcher can detect. If a worker sends one, it counts as `upstream_failed`. */
export const dispatcherCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'no_worker_available',
  'queue_timeout',
  'broker_unavailable',
  'token_limit_exceeded',
  'workers_died',
]);

/**
 * A worker's frames go to `<reply subject of the grant>.<kind>.<number>`, see `FrameKind`. Data frames go to `<…>.d._` and carry their
 * number outside the subject, see `subjectWithoutNumber`. Data frames carry raw bytes.
 */
const endSchema = z.object({
  usage: z.object({
    promptTokens: count,
    cachedTokens: count,
    cacheWriteTokens: count,
    hourCacheWriteTokens: count.optional().catch(undefined),
    completionTokens: count,
    reasoningTokens: count,
    units: z.partialRecord(z.enum(units), count).optional().catch(undefined),
  }),
  finishReason: cut(64),
});

const errorSchema = z.object({
  code: z.string().refine(isErrorCode),
  message: cut(4096),
  param: cut(256).optional(),
  retryAfter: z
    .number()
    .transform((seconds) => Math.min(Math.max(seconds, 0), maxRetryAfter))
    .optional(),
  details: z.looseObject({ error_code: z.string() }).optional(),
  /** See `OriginalError`. */
  original: z
    .object({
      format: z.string(),
      status: z.int().min(400).max(599),
      body: z.custom<JsonObject>((value) => isJsonObject(value) && !nestsTooDeeply(value)),
      headers: z.record(z.string(), z.string()),
    })
    .optional()
    .catch(undefined),
  upstreamCode: z.string().max(60).optional().catch(undefined),
  hadEffects: z.boolean().optional().catch(undefined),
  /** The worker never began the job, so even a job with effects may go to another worker. */
  unbegun: z.boolean().optional().catch(undefined),
  /** When the worker was started, in milliseconds since 1970. Present if the worker does not have the job. */
  startedAt: z.number().optional().catch(undefined),
  /** Why the worker cannot continue the answer of another worker. */
  cannotContinue: z.enum(continuationFailures).optional().catch(undefined),
});

export type ErrorFacts = Pick<z.infer<typeof errorSchema>, 'unbegun' | 'startedAt' | 'cannotContinue'>;

/**
 * Encodes the payload of an end frame: one line of JSON, then the last bytes of the answer. For a short answer, they are the whole answer.
 */
export function encodeEnd(end: JobEnd, lastBytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(end)}\n`), lastBytes]);
}

export function decodeEnd(payload: Uint8Array): { end: JobEnd; lastBytes: Uint8Array } | undefined {
  const newline = payload.indexOf(0x0a);
  const end = newline < 0 ? undefined : parseJson(payload.subarray(0, newline), endSchema);
  return end && { end, lastBytes: payload.subarray(newline + 1) };
}

/** Encodes the payload of an error frame. The error's cause stays in the worker's log. */
export function encodeError(error: RouterError, facts: ErrorFacts = {}): string {
  const { code, message, param, retryAfter, details, original, upstreamCode } = error;
  // The field is omitted for errors without effects, which most are.
  const hadEffects = error.hadEffects || undefined;
  return JSON.stringify({ code, message, param, retryAfter, details, original, upstreamCode, hadEffects, ...facts });
}

/** Reads what an error frame reports besides its error; an empty object if it cannot be parsed. */
export function decodeErrorFacts(payload: Uint8Array): ErrorFacts {
  return parseJson(payload, errorSchema) ?? {};
}

/** Reads an error frame; returns an `internal` error if it cannot be parsed. */
export function decodeError(payload: Uint8Array): RouterError {
  const error = parseJson(payload, errorSchema);
  if (!error || !isErrorCode(error.code))
    return new RouterError('internal', 'The worker failed, and its error cannot be read.');
  const { message, param, retryAfter, original, upstreamCode, hadEffects } = error;
  const details = parseDetails(error.details);
  const code = dispatcherCodes.has(error.code) ? 'upstream_failed' : error.code;
  return new RouterError(code, message, { param, retryAfter, hadEffects, details, original, upstreamCode });
}

function parseDetails(details: { error_code: string } | undefined): RouterError['details'] {
  return details && { ...details };
}
