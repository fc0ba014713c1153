import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { serveHttp } from '../servers/serve-http.ts';

/** Opens a client's connection that reads nothing yet, and returns the unbegun responses to its requests. */
export async function startUnreadClient(): Promise<{ client: Socket; response: ServerResponse }> {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const { port, stop } = await serveHttp((_, response) => resolve(response));
  onTestFinished(stop);
  const client = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void client.destroy());
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return { client, response: await promise };
}
