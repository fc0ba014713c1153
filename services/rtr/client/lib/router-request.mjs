import { ClientError } from './client-error.mjs';
import { toPrintable } from './to-printable.mjs';
import { send } from './send.mjs';

/** Thrown when the router cannot be reached or sends no usable answer. */
export class RouterUnreachableError extends ClientError {}

/**
 * Sends a request to the router.
 * @param {string} url
 * @param {import('./send.mjs').Outgoing} [outgoing]
 * @throws {RouterUnreachableError} if no answer comes
 */
export async function request(url, outgoing) {
  try {
    return await send(url, outgoing);
  } catch (error) {
    throw new RouterUnreachableError(`${new URL(url).origin} cannot be reached (${describeFailure(error)}).`);
  }
}

/**
 * Parses an answer as JSON.
 * @param {string} text
 * @param {string} url
 * @returns {Record<string, unknown>}
 * @throws {RouterUnreachableError} for a text that is not JSON
 */
export function parseAnswer(text, url) {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new RouterUnreachableError(`The server at ${url} is not a Model Router.`);
  }
}

/** @param {unknown} error */
function describeFailure(error) {
  if (!(error instanceof Error)) return toPrintable(String(error));
  const code = 'code' in error ? String(error.code) : '';
  // OpenSSL's message names its own source file.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return 'what answers there speaks no TLS, or no version of it that Node speaks';
  // If a host name has several addresses, the error is an AggregateError without a message.
  return toPrintable(error.message) || code;
}
