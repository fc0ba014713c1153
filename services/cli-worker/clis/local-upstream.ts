import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** An upstream inside the worker, on the loopback interface, to which a CLI sends requests that cost nothing. */
export interface LocalUpstream {
  url: string;
  /** Returns the body of the last request. */
  lastRequest(): JsonObject;
  close(): void;
}

/**
 * Starts a local upstream on a free port.
 * @param writeAnswer returns the event stream that answers a request
 */
export async function startLocalUpstream(writeAnswer: (body: JsonObject) => string): Promise<LocalUpstream> {
  let lastRequest: JsonObject = {};
  const server = createServer((request, response) => {
    void json(request)
      .catch(() => undefined)
      .then((body) => {
        if (isJsonObject(body)) lastRequest = body;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(writeAnswer(lastRequest));
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    lastRequest: () => lastRequest,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
