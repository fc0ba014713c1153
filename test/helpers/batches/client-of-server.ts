import type { RequestListener } from 'node:http';
import { RouterClient } from '#services/rtr/commands/client/router-client.ts';
import { serveInTest } from '../servers/serve-http.ts';

/**
 * Creates a client, for the running test, of a server with this listener.
 * @param path path of its address
 */
export async function clientOfServer(listener: RequestListener, path = '/'): Promise<RouterClient> {
  return new RouterClient({ url: `${await serveInTest(listener)}${path}`, key: 'k', segment: 'openai' });
}
