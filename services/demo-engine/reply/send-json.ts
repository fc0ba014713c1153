import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import { createOpenaiErrorBody } from '#shared/formats/openai/error.ts';

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Answers with an error in the shape of the OpenAI API. If the answer has already begun, closes the connection instead. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const routerError = error instanceof RouterError ? error : new RouterError('internal', 'The demo engine failed.');
  // On an open connection, the rest of an unread body would be parsed as the next request.
  const headers = response.req.complete ? {} : { connection: 'close' };
  sendJson(response, errorTable[routerError.code].status, createOpenaiErrorBody(routerError), {
    ...headers,
    ...(routerError.retryAfter === undefined ? {} : { 'retry-after': String(routerError.retryAfter) }),
  });
}
