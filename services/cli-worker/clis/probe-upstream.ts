import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * Has a CLI ask an upstream of the worker's own, on the loopback interface, which gives every request one answer.
 * @param events of the answer; those with a type are named by it
 * @param ask has the CLI ask the upstream at an address
 * @returns the last request
 */
export async function probeUpstream(
  events: readonly JsonObject[],
  ask: (url: string) => Promise<void>,
): Promise<JsonObject> {
  const answer = events.map(eventText).join('');
  let asked: JsonObject = {};
  const server = createServer((request, response) => {
    void json(request)
      .catch(() => undefined)
      .then((body) => {
        if (isJsonObject(body)) asked = body;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await ask(`http://127.0.0.1:${port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
  return asked;
}

function eventText(event: JsonObject): string {
  const { type } = event;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
