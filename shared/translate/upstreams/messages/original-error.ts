import type { OriginalError } from '#shared/core/errors.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import { pickHeaders, type RawHeaders } from '#shared/core/pick-headers.ts';
import { messagesErrorHeaders } from '#shared/formats/messages/answer-headers.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { readRetryAfter } from '../upstream-error.ts';

/** Maximum characters of the JSON of an error that is passed on unchanged. */
const maxBodyCharacters = 16 * 1024;

/** Statuses and error types by which the upstream refuses the router's own API key or account. Such errors are not the client's fault. */
const credentialErrors: ReadonlySet<unknown> = new Set([401, 403, 'authentication_error', 'permission_error']);

/**
 * Returns the error of a `messages` upstream that `messages` clients may receive unchanged. Claude Code recognises errors by their wording,
 * and obeys their headers.
 * @returns undefined for a body of another shape, a body that is too long, and errors about the router's credentials
 */
export function toOriginalError(
  status: number,
  body: Json | undefined,
  headers: RawHeaders,
): OriginalError | undefined {
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
