import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HttpServer {
  /** As `http://127.0.0.1:1234`. */
  url: string;
  port: number;
  server: Server;
  stop: () => Promise<void>;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Serves HTTP on a free port of this machine. A listener that fails cuts the connection. */
export async function serveHttp(
  listener: Listener = () => undefined,
  host = '127.0.0.1',
  wantedPort = 0,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void (async () => listener(request, response))().catch(() => response.destroy());
  });
  server.listen(wantedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The same until the running test is over. @returns its address */
export async function serveInTest(listener?: Listener): Promise<string> {
  const { url, stop } = await serveHttp(listener);
  onTestFinished(stop);
  return url;
}
