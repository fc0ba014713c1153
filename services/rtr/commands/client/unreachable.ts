import { errors } from 'undici';
import { CallError } from './call-error.ts';

/** Descriptions of connection errors, by error code. They follow the address in a sentence. */
const connectionErrorTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'no route leads to it',
  ENETUNREACH: 'no route leads to it',
  ETIMEDOUT: 'it accepts no connection',
  UND_ERR_CONNECT_TIMEOUT: 'it accepts no connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/**
 * Creates the error for a request without an answer.
 * @param settings names of settings that may be wrong, such as `RTR_URL`
 * @param timeoutMs milliseconds that the client waits for the beginning of an answer, or for its next piece
 */
export function createUnreachableError(
  url: string,
  { settings, timeoutMs }: { settings: string; timeoutMs: number },
  cause: unknown,
): CallError {
  if (cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError)
    return new CallError(0, `The router at ${url} has not answered for ${timeoutMs / 1_000} s.`, { cause });
  const question = `is it running, and ${settings} right?`;
  return new CallError(0, `The router does not answer at ${url}: ${question} (${toReason(cause)})`, { cause });
}

function toReason(cause: unknown): string {
  // An AggregateError has one error for each address of a host. Only the first is reported.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  if (!(first instanceof Error)) return String(first);
  const code = 'code' in first ? String(first.code) : '';
  return connectionErrorTexts[code] ?? (first.message || code || first.name);
}
