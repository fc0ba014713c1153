import type { ServerResponse } from 'node:http';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import { sendJson } from './send-json.ts';

/** Answers with an error in the shape of the OpenAI API. An answer that has already begun is cut instead. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known = error instanceof RouterError ? error : new RouterError('internal', 'The demo engine failed.');
  // A body that was not read to its end would be taken for the next request.
  const headers = response.req.complete ? {} : { connection: 'close' };
  sendJson(response, errorTable[known.code].status, errorBody(known), {
    ...headers,
    ...(known.retryAfter === undefined ? {} : { 'retry-after': String(known.retryAfter) }),
  });
}

/** An error as the OpenAI API writes it, all four keys present. */
export function errorBody({ code, message, param }: Pick<RouterError, 'code' | 'message' | 'param'>) {
  const { chatType, chatCode } = errorTable[code];
  return { error: { message, type: chatType, param: param ?? null, code: chatCode } };
}
