import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { chatFamily } from '../../../services/ingress/chat-family.ts';
import { ClientReply } from '../../../services/ingress/client-reply.ts';

/** A client's connection that reads nothing yet, and the responses to requests on it. */
async function startClient(requests: number): Promise<{ client: Socket; responses: ServerResponse[] }> {
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
  for (let sent = 1; sent <= requests; sent += 1) {
    client.write(`GET / HTTP/1.1\r\nhost: x\r\n${sent === requests ? 'connection: close\r\n' : ''}\r\n`);
  }
  await promise;
  return { client, responses };
}

function replyTo(response: ServerResponse | undefined, stream = true): ClientReply {
  if (!response) throw new Error('there is no such response');
  return new ClientReply(response, chatFamily, 'req_1', stream, () => undefined);
}

it('a piece of a stream leaves in its turn, before whatever is said to other clients later', async () => {
  const { client, responses } = await startClient(1);
  const reply = replyTo(responses[0]);
  for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
    reply.data(Buffer.from(piece));
    expect(responses[0]?.socket?.writableLength).toBe(0);
    expect(responses[0]?.socket?.writableCorked).toBe(0);
  }
  reply.end(Buffer.from('data: [DONE]\n\n'));
  expect(await text(client)).toMatch(/data: 1\n\n[^]*data: 2\n\n[^]*data: \[DONE\]\n\n/);
});

it('what has to wait for its client, or for an earlier answer to it, keeps nothing else in memory', async () => {
  const { client, responses } = await startClient(2);
  const first = replyTo(responses[0]);
  first.data(Buffer.alloc(6 * 1024 * 1024, ' '));
  expect(responses[0]?.writableLength).toBeGreaterThan(0);
  const read = Buffer.from('data: 1\n\ndata: 2\n\n{"a":3}');
  first.data(read.subarray(0, 9));
  first.end(read.subarray(9, 18));
  replyTo(responses[1], false).end(read.subarray(18));
  // Whoever owns the memory may use it for something else.
  read.fill('x');
  expect((await text(client)).replaceAll(/ {2,}/g, '')).toMatch(/data: 1\n\n[^]*data: 2\n\n[^]*{"a":3}$/);
});
