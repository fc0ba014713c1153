import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';

/** Throws a `RouterError` as the JSON-RPC error of a server, whose `data` have the router's own code, and any other error as it is. */
export function throwProtocolError(error: unknown): never {
  if (!(error instanceof RouterError)) throw error;
  const { code, message, retryAfter } = error;
  throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code, retry_after: retryAfter });
}
