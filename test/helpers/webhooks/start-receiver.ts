import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveInTest } from '../servers/serve-http.ts';

export interface ReceivedMessage {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Starts an HTTP server for the running test that receives webhooks. It answers 204 unless another answer is set. */
export async function startReceiver() {
  const messages: ReceivedMessage[] = [];
  let respond = (response: ServerResponse): void => void response.writeHead(204).end();
  const url = await serveInTest(async (request, response) => {
    messages.push({ headers: request.headers, body: await text(request) });
    respond(response);
  });
  return {
    url: `${url}/hook`,
    /** Every message, in order of arrival. */
    messages,
    /** Sets the function for the answers that follow. */
    answer: (next: (response: ServerResponse) => void) => void (respond = next),
    /** Makes it answer with a status from now on. */
    answerWith: (status: number) => void (respond = (response) => response.writeHead(status).end()),
  };
}
