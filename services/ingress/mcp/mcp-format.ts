import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import { chatErrorAnswer } from '#shared/formats/chat/error.ts';
import type { AnswerFormat } from '#shared/formats/client-format.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';

/** JSON-RPC 2.0, "Error object"; the last is the first of those left to servers. */
export const rpcErrors = { parse: -32_700, invalidRequest: -32_600, server: -32_000 } as const;

/**
 * What the router says at the MCP endpoint before there is a JSON-RPC request to answer: the HTTP status, with a JSON-RPC
 * error that has no id (Model Context Protocol, "Streamable HTTP").
 */
export const mcpFormat: AnswerFormat = {
  ...toolsFormat,
  errorAnswer(error, requestId) {
    const { status, headers } = chatErrorAnswer(error);
    return {
      status,
      // A client that can ask its user for a key is told that one is wanted (RFC 9110, 15.5.2).
      headers: status === 401 ? { ...headers, 'www-authenticate': 'Bearer' } : headers,
      body: { jsonrpc: '2.0', id: null, error: rpcError(error, requestId) },
    };
  },
};

/** The error of a JSON-RPC answer: the router's own code goes along as data. */
function rpcError({ code, message }: RouterError, requestId: string): object {
  return { code: rpcCode(code), message, data: { code, request_id: requestId } };
}

function rpcCode(code: ErrorCode): number {
  if (code === 'invalid_json') return rpcErrors.parse;
  return errorTable[code].status === 400 ? rpcErrors.invalidRequest : rpcErrors.server;
}
