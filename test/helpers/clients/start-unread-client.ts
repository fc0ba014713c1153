import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { serveHttp } from '../servers/serve-http.ts';

/** Opens a client's connection that reads nothing yet, and returns the unbegun responses to its requests. */
export async function startUnreadClient(requests = 1): Promise<{ client: Socket; responses: ServerResponse[] }> {
  const responses: ServerResponse[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port, stop } = await serveHttp((_, response) => {
    responses.push(response);
    if (responses.length === requests) resolve();
  });
  onTestFinished(stop);
  const client = connect(port, '127.0.0.1').pause();
  onTestFinished(() => void client.destroy());
  for (let sent = 1; sent <= requests; sent += 1) {
    client.write(`GET / HTTP/1.1\r\nhost: x\r\n${sent === requests ? 'connection: close\r\n' : ''}\r\n`);
  }
  await promise;
  return { client, responses };
}
