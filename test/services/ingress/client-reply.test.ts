import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { chatFamily } from '../../../services/ingress/chat-family.ts';
import { ClientReply } from '../../../services/ingress/client-reply.ts';

it('a piece of a stream leaves in its turn, before whatever is said to other clients later', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const answer = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const reply = new ClientReply(response, chatFamily, 'req_1', true, () => undefined);

  for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
    reply.data(Buffer.from(piece));
    expect(response.socket?.writableLength).toBe(0);
    expect(response.socket?.writableCorked).toBe(0);
  }
  reply.end(Buffer.from('data: [DONE]\n\n'));
  expect(await (await answer).text()).toBe('data: 1\n\ndata: 2\n\ndata: [DONE]\n\n');
});
