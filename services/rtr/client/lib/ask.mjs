import { ClientError } from './client-error.mjs';
import { printable } from './printable.mjs';
import { send } from './send.mjs';

/** Thrown when the router cannot be reached, or does not send a usable answer. */
export class RouterUnreachableError extends ClientError {}

/**
 * Sends a request to the router.
 * @param {string} url
 * @param {import('./send.mjs').Outgoing} [request]
 * @throws {RouterUnreachableError} if no answer comes
 */
export async function request(url, request) {
  try {
    return await send(url, request);
  } catch (error) {
    throw new RouterUnreachableError(`${new URL(url).origin} cannot be reached (${reasonOf(error)}).`);
  }
}

/**
 * Parses the JSON of an answer.
 * @param {string} text
 * @param {string} url
 * @returns {Record<string, unknown>}
 * @throws {RouterUnreachableError} for a text that is not JSON
 */
export function parse(text, url) {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new RouterUnreachableError(`What answers at ${url} is no Model Router.`);
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Error)) return printable(String(error));
  const code = 'code' in error ? String(error.code) : '';
  // OpenSSL's message names its own source file.
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_'))
    return 'what answers there speaks no TLS, or no version of it that Node speaks';
  // If a host name has several addresses, the joint error of all of them has no message.
  return printable(error.message) || code;
}
