import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { RouterClient } from '#services/rtr/commands/client/router-client.ts';

/** A client, for the running test, of a server that answers so. @param path of its address */
export async function clientOfServer(listener: RequestListener, path = '/'): Promise<RouterClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return new RouterClient({ url, key: 'k', segment: 'openai' });
}
