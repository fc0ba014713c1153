import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { RouterError, OriginalError } from '#shared/core/errors.ts';
import { parseUpstreamJson } from '../parse-upstream-json.ts';
import { readRetryAfter, upstreamError } from '../upstream-error.ts';
import { type RawHeaders, pickHeaders } from '#shared/core/pick-headers.ts';
import { messagesErrorHeaders } from '#shared/formats/messages/headers.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';

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

/** Maximum characters of the JSON of an error that is passed on unchanged. */
const maxBodyCharacters = 16 * 1024;

/** Statuses and error types by which the upstream refuses the router's own API key or account. Such errors are not the client's fault. */
const credentialErrors: ReadonlySet<unknown> = new Set([401, 403, 'authentication_error', 'permission_error']);

/**
 * Returns the error of a `messages` upstream that `messages` clients may receive unchanged. Claude Code recognises errors by their wording,
 * and obeys their headers.
 * @returns undefined for a body of another shape, a body that is too long, and errors about the router's credentials
 */
function toOriginalError(status: number, body: Json | undefined, headers: RawHeaders): OriginalError | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (!isJsonObject(body) || !isJsonObject(error) || status < 400 || status > 599) return undefined;
  const { type, message } = error;
  if (typeof type !== 'string' || typeof message !== 'string') return undefined;
  if (credentialErrors.has(status) || credentialErrors.has(type)) return undefined;
  if (JSON.stringify(body).length > maxBodyCharacters) return undefined;
  return { format: messagesFormat.name, status, body, headers: pickPassedHeaders(headers) };
}

/** Picks the headers that clients receive. Rounds `retry-after` up, because Claude Code reads whole seconds. */
function pickPassedHeaders(headers: RawHeaders): Record<string, string> {
  const { 'retry-after': _, ...passed } = pickHeaders(headers, messagesErrorHeaders);
  const seconds = readRetryAfter(headers);
  return seconds === undefined ? passed : { ...passed, 'retry-after': String(Math.ceil(seconds)) };
}
