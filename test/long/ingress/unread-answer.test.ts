import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { chatFamily } from '../../../services/ingress/chat-family.ts';
import { ClientReply } from '../../../services/ingress/client-reply.ts';

// Node gives a socket that has written anything since it last looked another half minute.
it(
  'the last bytes of an answer wait a minute at most for a client that reads nothing',
  { timeout: 80_000 },
  async () => {
    const server = createServer((_, response) => {
      new ClientReply(response, chatFamily, 'req_1', false, () => undefined).end(Buffer.alloc(64 * 1024 * 1024, ' '));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    onTestFinished(() => void client.destroy());
    client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    const begun = performance.now();
    await once(response, 'close');
    expect(response.writableFinished).toBe(false);
    expect(performance.now() - begun).toBeGreaterThan(29_000);
    expect(performance.now() - begun).toBeLessThan(65_000);
  },
);
