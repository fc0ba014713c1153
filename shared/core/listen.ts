import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Releases } from './release.ts';

/**
 * Opens a server's port and registers its release, which closes the port and all connections.
 * @throws the system's error if the port is taken or not allowed
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
