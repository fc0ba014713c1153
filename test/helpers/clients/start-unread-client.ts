import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A client's connection that reads nothing yet, and the responses to its requests, of which none is begun. */
export async function startUnreadClient(requests = 1): Promise<{ client: Socket; responses: ServerResponse[] }> {
  const responses: ServerResponse[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    responses.push(response);
    if (responses.length === requests) resolve();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  onTestFinished(() => void client.destroy());
  for (let sent = 1; sent <= requests; sent += 1) {
    client.write(`GET / HTTP/1.1\r\nhost: x\r\n${sent === requests ? 'connection: close\r\n' : ''}\r\n`);
  }
  await promise;
  return { client, responses };
}
