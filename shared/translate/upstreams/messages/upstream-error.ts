import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';
import { readRetryAfter, upstreamError } from '../upstream-error.ts';
import type { RawHeaders } from '#shared/core/pick-headers.ts';
import { toOriginalError } from './original-error.ts';

/**
 * Returns the router's error for a `messages` upstream's error answer, `{type: "error", error: {type, message}}`.
 * @param body the answer's body as text
 */
export function readMessagesError(status: number, body: string, headers: RawHeaders): RouterError {
  const parsed = parseUpstreamJson(body);
  const error = upstreamError({
    status,
    message: readMessage(parsed),
    retryAfter: readRetryAfter(headers),
  });
  return error.withOriginal(toOriginalError(status, parsed, headers));
}

/**
 * Returns the router's error for an error event that a `messages` upstream sends under status 200; undefined for any other event. The
 * error's type determines the status.
 */
export function readMessagesEventError(event: JsonObject): RouterError | undefined {
  if (event['type'] !== 'error') return undefined;
  const { error } = event;
  const status = toStatus(isJsonObject(error) ? error['type'] : undefined);
  return upstreamError({ status, message: readMessage(event), retryAfter: undefined }).withOriginal(
    toOriginalError(status, event, {}),
  );
}

function readMessage(body: Json | undefined): string {
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (typeof error === 'string') return error;
  return isJsonObject(error) && typeof error['message'] === 'string' ? error['message'] : '';
}

/** Returns the status of an error type (Anthropic API reference, "Errors"). */
function toStatus(type: Json | undefined): number {
  switch (type) {
    case 'invalid_request_error':
      return 400;
    case 'authentication_error':
      return 401;
    case 'permission_error':
      return 403;
    case 'not_found_error':
      return 404;
    case 'request_too_large':
      return 413;
    case 'rate_limit_error':
      return 429;
    case 'timeout_error':
      return 504;
    case 'overloaded_error':
      return 529;
    default:
      return 500;
  }
}
