import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HttpServer {
  /** Such as `http://127.0.0.1:1234`. */
  url: string;
  port: number;
  server: Server;
  stop: () => Promise<void>;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Serves HTTP on this machine. A listener that fails cuts the connection.
 * @param wanted port, instead of a free one
 * @param tls certificate and key, to serve https
 */
export async function serveHttp(
  listener: Listener = () => undefined,
  { host = '127.0.0.1', wanted = 0, tls }: { host?: string; wanted?: number; tls?: ServerOptions } = {},
): Promise<HttpServer> {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    void (async () => listener(request, response))().catch(() => response.destroy());
  };
  const server = tls ? createSecureServer(tls, serve) : createServer(serve);
  server.listen(wanted, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
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

/**
 * Serves the same until the end of the running test.
 * @returns its address
 */
export async function serveInTest(listener?: Listener): Promise<string> {
  const { url, stop } = await serveHttp(listener);
  onTestFinished(stop);
  return url;
}
