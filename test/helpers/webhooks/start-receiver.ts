import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A message that a receiver was sent. */
export interface ReceivedMessage {
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  /** Every message, in the order in which they came. */
  messages: ReceivedMessage[];
  /** Decides about the answers that follow. */
  answer: (respond: (response: ServerResponse) => void) => void;
}

/** Starts an HTTP server for the running test that receives webhooks. It answers 204 unless it is to do something else. */
export async function startReceiver(): Promise<Receiver> {
  const messages: ReceivedMessage[] = [];
  let respond = (response: ServerResponse): void => void response.writeHead(204).end();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      messages.push({ headers: request.headers, body });
      respond(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    answer: (next) => {
      respond = next;
    },
  };
}
