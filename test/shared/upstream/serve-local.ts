import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';
import { UpstreamHttp } from '#shared/upstream/upstream-http.ts';

/** Lets a server listen on a free port of this machine until the test ends, and returns its address. */
export async function serveLocal(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The same server as an upstream with one connection. */
export async function upstreamAt(server: Server): Promise<UpstreamHttp> {
  const url = await serveLocal(server);
  const http = new UpstreamHttp({ url, connections: 1, connectTimeoutMs: 1_000, headers: () => ({}), allowH2: false });
  onTestFinished(() => http.close());
  return http;
}
