import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { RouterError } from '#shared/core/errors.ts';

/** Throws a `RouterError` as a JSON-RPC internal error with the router's own code in `data`. Throws any other error unchanged. */
export function throwProtocolError(error: unknown): never {
  if (!(error instanceof RouterError)) throw error;
  const { code, message, retryAfter } = error;
  throw new ProtocolError(ProtocolErrorCode.InternalError, message, { code, retry_after: retryAfter });
}
