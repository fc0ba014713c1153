import type { RequestListener } from 'node:http';
import { RouterClient } from '#services/rtr/commands/client/router-client.ts';
import { serveForTest } from '../servers/serve-for-test.ts';

/** A client, for the running test, of a server that answers so. @param path of its address */
export async function clientOfServer(listener: RequestListener, path = '/'): Promise<RouterClient> {
  return new RouterClient({ url: `${await serveForTest(listener)}${path}`, key: 'k', segment: 'openai' });
}
