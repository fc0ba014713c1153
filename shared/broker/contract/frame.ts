import { z } from 'zod';
import { RouterError, isErrorCode, type ErrorCode, continuationFailures } from '#shared/core/errors.ts';
import { isJsonObject, nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { units } from '#shared/core/usage.ts';
import type { JobEnd } from './job-contract.ts';
import { parseJson } from './ticket.ts';

/** A count that a worker reports. An impossible value is corrected, because a refused value would lose the whole end frame. */
const count = z
  .number()
  .transform((value) => Math.min(Math.max(Math.trunc(value), 0), Number.MAX_SAFE_INTEGER))
  .catch(0);

/** The schema of a text that is cut after `length` characters. */
const shortText = (length: number) => z.string().transform((text) => text.slice(0, length));

/** Maximum seconds for which a worker can make clients and batches wait. A limit of an upstream account may last a week. */
const maxRetryAfter = 7 * 24 * 3600;

/**
 * Codes of errors that only a dispatcher, or the API that a client calls, can detect. An error with such a code from a worker counts as
 * `upstream_failed`: a worker must not tell a client that its key is invalid.
 */
export const dispatcherCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'missing_key',
  'invalid_api_key',
  'permission_denied',
  'previous_response_not_found',
  'response_begun_anew',
  'method_not_allowed',
  'upgrade_refused',
  'request_timeout',
  'idempotency_key_reused',
  'answer_not_kept',
  'storage_quota_exceeded',
  'storage_full',
  'unsupported_encoding',
  'range_not_satisfiable',
  'headers_too_large',
  'no_worker_available',
  'queue_timeout',
  'broker_unavailable',
  'token_limit_exceeded',
  'workers_died',
]);

/**
 * The JSON of an end frame. A worker sends its frames to `<reply subject of the grant>.<kind>.<number>`, see `FrameKind`. A data frame
 * contains nothing but bytes of the answer. It goes to `<reply subject of the grant>.d._` and has its number outside the subject, see
 * `formatUnnumberedSubject`.
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
  finishReason: shortText(64),
});

const errorSchema = z.object({
  code: z.string().refine(isErrorCode),
  message: shortText(4096),
  param: shortText(256).optional(),
  retryAfter: z
    .number()
    .transform((seconds) => Math.min(Math.max(seconds, 0), maxRetryAfter))
    .optional(),
  details: z
    .looseObject({ error_code: z.string() })
    .refine((details) => !nestsTooDeeply(details as JsonObject))
    .optional()
    .catch(undefined),
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
  /** True if the worker never began the job, so that even a job with effects may go to another worker. */
  unbegun: z.boolean().optional().catch(undefined),
  /** When the worker was started, in milliseconds since 1970. Present if the worker does not have the job. */
  startedAt: z.number().optional().catch(undefined),
  /** Why the worker cannot continue the answer of another worker. */
  cannotContinue: z.enum(continuationFailures).optional().catch(undefined),
});

/** The facts that an error frame reports besides the error. */
export type ErrorFacts = Pick<z.infer<typeof errorSchema>, 'unbegun' | 'startedAt' | 'cannotContinue'>;

/**
 * Encodes the payload of an end frame: one line of JSON, then the last bytes of the answer. The last bytes of a short answer are the whole
 * answer.
 */
export function encodeEnd(end: JobEnd, lastBytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(end)}\n`), lastBytes]);
}

export function decodeEnd(payload: Uint8Array): { end: JobEnd; lastBytes: Uint8Array } | undefined {
  const newline = payload.indexOf(0x0a);
  const end = newline < 0 ? undefined : parseJson(payload.subarray(0, newline), endSchema);
  return end && { end, lastBytes: payload.subarray(newline + 1) };
}

/** Encodes the payload of an error frame. It does not contain the error's cause, which only the worker's log has. */
export function encodeError(error: RouterError, facts: ErrorFacts = {}): string {
  const { code, message, param, retryAfter, details, original, upstreamCode } = error;
  // Most errors have no effects, and omit the field.
  const hadEffects = error.hadEffects || undefined;
  return JSON.stringify({ code, message, param, retryAfter, details, original, upstreamCode, hadEffects, ...facts });
}

/** Reads the facts that an error frame reports besides the error; an empty object if the frame cannot be parsed. */
export function decodeErrorFacts(payload: Uint8Array): ErrorFacts {
  return parseJson(payload, errorSchema) ?? {};
}

/** Reads the error of an error frame; an `internal` error if the frame cannot be parsed. */
export function decodeError(payload: Uint8Array): RouterError {
  const error = parseJson(payload, errorSchema);
  if (!error || !isErrorCode(error.code))
    return new RouterError('internal', 'The worker failed, and its error cannot be read.');
  const { message, param, retryAfter, original, upstreamCode, hadEffects } = error;
  const details = copyDetails(error.details);
  const code = dispatcherCodes.has(error.code) ? 'upstream_failed' : error.code;
  return new RouterError(code, message, { param, retryAfter, hadEffects, details, original, upstreamCode });
}

function copyDetails(details: { error_code: string } | undefined): RouterError['details'] {
  return details && { ...details };
}
