import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that answers `GET /v1/models` and nothing else, and can be stopped and started on the same port. */
export interface ModelServer {
  readonly url: string;
  /** How often it was asked. */
  readonly asked: number;
  models: string[];
  status: number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startModelServer(models: string[]): Promise<ModelServer> {
  let asked = 0;
  let port = 0;
  const server = createServer((request, response) => {
    const isKnown = request.url === '/v1/models';
    if (isKnown) asked += 1;
    response.writeHead(isKnown ? self.status : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: self.models.map((id) => ({ id, object: 'model' })) }));
  });
  const self: ModelServer = {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get asked() {
      return asked;
    },
    models,
    status: 200,
    start: async () => {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    },
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  await self.start();
  return self;
}
