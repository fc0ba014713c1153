import express, { type Response } from 'express';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createClientServer } from '#services/ingress/http/client-server.ts';
import { WaitingConnections } from '#services/ingress/http/waiting-connections.ts';
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
  app.use(open.track, ({ path }, response) => void served.push({ path, response }));
  const countRefusal = ({ error }: { error: { code: string } }) => refused.push(error.code);
  const server: Server = createClientServer(app, {
    log: silentLog,
    openRequests: open,
    countRefusal,
    bodyTimeoutMs: 60_000,
    waitingConnections: new WaitingConnections(100, () => true),
    directRoutes: [],
  });
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

it.each([
  ['without a host', 'GET / HTTP/1.1\r\n\r\n', 'The request has no Host header.'],
  ['with two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 'The header `Host` is not the name of a host.'],
  [
    'with the same host twice',
    'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
    'The header `Host` is not the name of a host.',
  ],
  [
    'of HTTP/1.0 with two hosts',
    'GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n',
    'The header `Host` is not the name of a host.',
  ],
  ['with a host that is none', 'GET / HTTP/1.1\r\nHost: a@b/c\r\n\r\n', 'The header `Host` is not the name of a host.'],
  [
    'with two lengths',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    'This is not a valid HTTP request.',
  ],
  [
    'with a length and chunks',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
    'This is not a valid HTTP request.',
  ],
  [
    'with chunks in an encoding around them',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n',
    'This is not a valid HTTP request.',
  ],
  [
    'of HTTP/1.0 with chunks',
    'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'A request of HTTP/1.0 has no chunks.',
  ],
])('a request %s is refused', async (_, bytes, message) => {
  const { socket, text, closed, served, refused } = await connectToServer();
  socket.write(bytes);
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 400 /);
  expect(text()).toContain(message);
  expect([served, refused]).toEqual([[], ['invalid_request']]);
});

it.each([
  ['none in HTTP/1.0', 'HTTP/1.0\r\n'],
  ['an empty one', 'HTTP/1.1\r\nHost:\r\n'],
  ['a name with a port', 'HTTP/1.1\r\nHost: router_1.example.com:8484\r\n'],
  ['an IPv6 address', 'HTTP/1.1\r\nHost: [fe80::1%25eth0]:8484\r\n'],
])('a request is served whose host is %s', async (_, head) => {
  const { socket, paths } = await connectToServer();
  socket.write(`GET / ${head}\r\n`);
  await until(() => expect(paths()).toEqual(['/']));
});
