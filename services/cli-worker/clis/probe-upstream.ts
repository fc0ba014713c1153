import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * Starts an upstream inside the worker, on the loopback interface, and makes a CLI send requests to it. The upstream gives every request
 * the same answer.
 * @param events events of the answer; if an event has a type, that is also its name in the stream
 * @param sendRequest makes the CLI send a request to the upstream at an address
 * @returns the body of the last request
 */
export async function probeUpstream(
  events: readonly JsonObject[],
  sendRequest: (url: string) => Promise<void>,
): Promise<JsonObject> {
  const answer = events.map(writeEvent).join('');
  let lastRequest: JsonObject = {};
  const server = createServer((request, response) => {
    void json(request)
      .catch(() => undefined)
      .then((body) => {
        if (isJsonObject(body)) lastRequest = body;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await sendRequest(`http://127.0.0.1:${port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return lastRequest;
}

function writeEvent(event: JsonObject): string {
  const { type } = event;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
