import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Releases } from './release.ts';

/**
 * Opens a server's port and sees to it that it is closed, connections and all.
 * @throws the system's error when the port is taken or not allowed
 */
export async function listen(server: Server, port: number, host: string, releases: Releases): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
  releases.add(`port ${port}`, () => {
    if (server.listening) server.close();
    server.closeIdleConnections();
    server.closeAllConnections();
  });
}
