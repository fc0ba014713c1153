import express, { type Response } from 'express';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createClientServer } from '#services/ingress/http/client-server.ts';
import { OpenRequests } from '#services/ingress/http/open-requests.ts';
import { openRaw } from '../../../helpers/clients/raw-http.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

/** A client server whose application leaves every request open, a connection to it, and the requests that it was called with. */
async function connectToServer() {
  const open = new OpenRequests();
  const served: { path: string; response: Response }[] = [];
  const refused: string[] = [];
  const app = express();
  app.use(open.follow, ({ path }, response) => void served.push({ path, response }));
  const countRefusal = ({ error }: { error: { code: string } }) => refused.push(error.code);
  const server: Server = createClientServer(app, { log: silentLog, open, countRefusal, bodyTimeoutMs: 60_000 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const raw = await openRaw(`http://127.0.0.1:${port}`);
  onTestFinished(() => void raw.socket.destroy());
  const paths = () => served.map(({ path }) => path);
  return { ...raw, open, served, refused, paths };
}

/** Requests of the paths `/0`, `/1` and so on. */
function requests(count: number, head = 'Host: a\r\n'): string {
  return Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\n${head}\r\n`).join('');
}

it('requests that come together on a connection are served one after the other, and answered in their order', async () => {
  const { socket, text, served, paths, open } = await connectToServer();
  socket.write(requests(5));
  for (let at = 0; at < 5; at += 1) {
    await until(() => expect(paths()).toEqual(['/0', '/1', '/2', '/3', '/4'].slice(0, at + 1)));
    expect(open.count).toBe(1);
    served[at]?.response.send(`answer ${at};`);
    await until(() => expect(text()).toContain(`answer ${at};`));
  }
  expect(text().match(/answer \d/g)).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3', 'answer 4']);
  await until(() => expect(open.count).toBe(0));
  socket.write(requests(1));
  await until(() => expect(paths()).toHaveLength(6));
});

it.each([
  ['that nobody waits for', requests(1_100)],
  ['without a host', requests(1) + requests(1_100, '')],
  ['with an unknown expectation', requests(1) + requests(1_100, 'Host: a\r\nExpect: a\r\n')],
])('a thousand requests %s end their connection, and the first alone was served', async (_, bytes) => {
  const { socket, text, closed, refused, paths, open } = await connectToServer();
  socket.write(bytes);
  await closed;
  await until(() => expect(open.count).toBe(0));
  expect(text()).toMatch(/^HTTP\/1\.1 4(?:00|29) [^]*\{"error":\{"message":"/);
  expect(refused).toHaveLength(1);
  expect(paths()).toEqual(['/0']);
});

it('requests are not served once their connection is closed', async () => {
  const { socket, served, paths, open } = await connectToServer();
  socket.write(requests(5));
  await until(() => expect(paths()).toEqual(['/0']));
  socket.destroy();
  await until(() => expect(open.count).toBe(0));
  served[0]?.response.end();
  await nextTurn();
  expect([paths(), open.count]).toEqual([['/0'], 0]);
});

it('a request without a host is refused, but for one of HTTP/1.0', async () => {
  const modern = await connectToServer();
  modern.socket.write('GET / HTTP/1.1\r\n\r\n');
  await modern.closed;
  expect(modern.text()).toMatch(/^HTTP\/1\.1 400 [^]*The request has no Host header\./);
  const old = await connectToServer();
  old.socket.write('GET / HTTP/1.0\r\n\r\n');
  await until(() => expect(old.paths()).toEqual(['/']));
});
