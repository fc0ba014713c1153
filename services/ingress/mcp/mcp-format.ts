import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { createOpenaiErrorAnswer } from '#shared/formats/openai/error.ts';
import { isJsonObject } from '#shared/core/json.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import type { ErrorAnswer } from '#shared/formats/retry-headers.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';

/** Error codes of JSON-RPC 2.0, "Error object". `server` is the first code of the range that is reserved for servers. */
export const rpcErrors = { parse: -32_700, invalidRequest: -32_600, server: -32_000 } as const;

/**
 * Format of the answers of the MCP endpoint to requests that fail before they are parsed as JSON-RPC. The answers have an HTTP status and a
 * JSON-RPC error (Model Context Protocol, "Streamable HTTP"). If the id of the request is unknown, the error has no field `id`. JSON-RPC
 * uses null there, but the schema of the protocol does not allow null.
 */
export const mcpFormat: AnswerFormat = createMcpFormat(undefined);

/** Returns `mcpFormat` for a request that was parsed, so that errors contain the request's id. */
export function createMcpFormat(message: unknown): AnswerFormat {
  const id = isJsonObject(message) && isRequestId(message['id']) ? { id: message['id'] } : {};
  return { ...toolsFormat, errorAnswer: (error, requestId) => createErrorAnswer(error, requestId, id) };
}

function isRequestId(id: unknown): boolean {
  return typeof id === 'string' || Number.isInteger(id);
}

/** @param id object with the field `id`; an empty object if the id is unknown */
function createErrorAnswer(error: RouterError, requestId: string, id: object): ErrorAnswer<object> {
  const { status, headers } = createOpenaiErrorAnswer(error);
  return {
    status,
    // A client that supports this header asks its user for a key (RFC 9110, 15.5.2).
    headers: status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers,
    body: { jsonrpc: '2.0', ...id, error: createRpcError(error, requestId) },
  };
}

/** Returns the error object of a JSON-RPC answer. Its field `data` contains the router's own code. */
function createRpcError({ code, message }: RouterError, requestId: string): object {
  return { code: toRpcCode(code), message, data: { code, request_id: requestId } };
}

function toRpcCode(code: ErrorCode): number {
  if (code === 'invalid_json') return rpcErrors.parse;
  return errorTable[code].status === 400 ? rpcErrors.invalidRequest : rpcErrors.server;
}
