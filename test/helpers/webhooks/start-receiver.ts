import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveInTest } from '../servers/serve-http.ts';

/** A message that a receiver was sent. */
export interface ReceivedMessage {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Starts an HTTP server for the running test that receives webhooks. It answers 204 unless it is to do something else. */
export async function startReceiver() {
  const messages: ReceivedMessage[] = [];
  let respond = (response: ServerResponse): void => void response.writeHead(204).end();
  const url = await serveInTest(async (request, response) => {
    messages.push({ headers: request.headers, body: await text(request) });
    respond(response);
  });
  return {
    url: `${url}/hook`,
    /** Every message, in the order in which they came. */
    messages,
    /** Decides about the answers that follow. */
    answer: (next: (response: ServerResponse) => void) => void (respond = next),
    /** Has it answer with a status from now on. */
    answerWith: (status: number) => void (respond = (response) => response.writeHead(status).end()),
  };
}
