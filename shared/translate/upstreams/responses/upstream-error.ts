import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { createOverflowError } from '#shared/formats/context-overflow.ts';
import { readOverflowText } from '../overflow-texts.ts';
import { readRetryDelay, upstreamError } from '../upstream-error.ts';

/**
 * Returns the router's error for a failed response or an `error` event. Both come under status 200. The error's code determines the status.
 * An `error` event has its fields at the top level; some servers nest them in `error`.
 */
export function readResponseError(event: JsonObject): RouterError {
  const error = isJsonObject(event['error']) ? event['error'] : event;
  const message = typeof error['message'] === 'string' ? error['message'] : '';
  const code = error['code'] ?? error['type'];
  if (code === 'context_length_exceeded') return createOverflowError(readOverflowText(message) ?? {});
  return upstreamError({ status: toStatus(code), message, code, retryAfter: readRetryDelay(error) });
}

/** Returns the error of a response with status `failed`; undefined for any other response. */
export function readFailure(response: Json | undefined): RouterError | undefined {
  const { status, error } = isJsonObject(response) ? response : {};
  if (status !== 'failed' && status !== 'cancelled' && !(status === undefined && isJsonObject(error))) return undefined;
  if (isJsonObject(error)) return readResponseError(error);
  return new RouterError('upstream_failed', 'The upstream did not finish its answer.');
}

/** Returns the status for a code in an answer of a Responses upstream (OpenAI API reference, `ResponseError`). */
function toStatus(code: Json | undefined): number {
  if (typeof code === 'number') return code >= 400 && code <= 599 ? code : 500;
  switch (code) {
    case 'rate_limit_exceeded':
    case 'usage_limit_reached':
      return 429;
    case 'insufficient_quota':
      return 402;
    case 'server_is_overloaded':
    case 'slow_down':
      return 503;
    case 'vector_store_timeout':
      return 504;
    case 'invalid_prompt':
    case 'invalid_request_error':
    case 'data_residency_mismatch':
    case 'bio_policy':
    case 'misalignment_policy_violation':
      return 400;
    default:
      return typeof code === 'string' && /image/.test(code) ? 400 : 500;
  }
}
