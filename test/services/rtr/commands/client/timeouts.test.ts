import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { AdminClient } from '#services/rtr/commands/admin/admin-client.ts';
import { RouterClient } from '#services/rtr/commands/client/router-client.ts';
import { serveInTest } from '../../../../helpers/servers/serve-http.ts';

const timeoutMs = 300;

it.each([
  ['never begins an answer', () => undefined],
  ['begins an answer and hangs', (_, response) => void response.writeHead(200).write('{"data":')],
] as [string, RequestListener][])('rtr waits a bounded time for a router that %s', async (_, answer) => {
  const url = await serveInTest(answer);
  const sentence = `The router at ${url} has not answered for 0.3 s.`;
  const admin = new AdminClient({ url, token: () => Promise.resolve('t'), unknownTokenMessage: '', timeoutMs });
  await expect(admin.get('/users')).rejects.toMatchObject({ status: 0, message: sentence });
  const client = new RouterClient({ url, key: 'k', segment: 'openai', timeoutMs });
  await expect(client.call('GET', '/batches')).rejects.toMatchObject({ status: 0, message: sentence });
});

it('rtr waits for a running upload, however long it takes', async () => {
  const url = await serveInTest((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  const pieces = async function* () {
    for (let piece = 0; piece < 6; piece += 1) {
      yield Buffer.alloc(1);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  const client = new RouterClient({ url, key: 'k', segment: 'openai', timeoutMs });
  const content = Readable.from(pieces());
  await expect(client.send('/files', { contentType: 'text/plain', bytes: 6, content })).resolves.toEqual({});
});

it('rtr explains why a router cannot be reached', async () => {
  const client = new RouterClient({ url: 'http://127.0.0.1:9', key: 'k', segment: 'openai' });
  const sentence = 'The router does not answer at http://127.0.0.1:9: is it running, and RTR_URL right?';
  await expect(client.call('GET', '/batches')).rejects.toThrow(`${sentence} (nothing listens there)`);
});
