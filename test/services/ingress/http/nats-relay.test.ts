import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
import { computeMaxRelayed, NatsRelay } from '#services/ingress/http/nats-relay.ts';
import { WaitingConnections } from '#services/ingress/http/waiting-connections.ts';
import { openRaw, readRawAnswer, type RawConnection } from '../../../helpers/clients/raw-http.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { startClientServer } from '../../../helpers/servers/start-client-server.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

interface Accepted {
  request: IncomingMessage;
  socket: Duplex;
  /** Returns what came from the client. */
  text: () => string;
}

/** A listener for WebSockets in place of NATS, which says `INFO` first. */
async function startListener() {
  const accepted: Accepted[] = [];
  const { server, port, stop } = await serveHttp();
  server.on('upgrade', (request, socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => socket.destroy()).on('end', () => socket.end());
    accepted.push({ request, socket, text: () => text });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nINFO');
  });
  onTestFinished(async () => {
    for (const { socket } of accepted) socket.destroy();
    await stop();
  });
  return { url: `ws://127.0.0.1:${port}`, accepted };
}

async function startRelay({ url, max = 10, waiting = 100 }: { url?: string; max?: number; waiting?: number } = {}) {
  const listener = await startListener();
  const relay = new NatsRelay({ url: url ?? listener.url, max, log });
  const served: string[] = [];
  const { url: clientUrl, openRequests } = await startClientServer(
    (request, response) => {
      served.push(request.path);
      if (request.path !== '/open') response.send(`served ${request.path}`);
    },
    { relay, waitingConnections: new WaitingConnections(waiting, () => true) },
  );
  onTestFinished(() => relay.close());
  const open = async () => {
    const raw = await openRaw(clientUrl);
    onTestFinished(() => void raw.socket.destroy());
    return raw;
  };
  const join = async (): Promise<RawConnection> => {
    const raw = await open();
    raw.socket.write(opening());
    await until(() => raw.text().endsWith('INFO'));
    return raw;
  };
  return { ...listener, relay, served, open, join, openRequests };
}

/** The head of a request that opens a WebSocket. */
function opening(path = '/nats', ...headers: readonly string[]): string {
  const common = ['Host: router', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: a2V5'];
  return [`GET ${path} HTTP/1.1`, ...common, ...headers, '', ''].join('\r\n');
}

it('the WebSocket of a worker reaches NATS, which gets its bytes and only the headers of the WebSocket', async () => {
  const { open, accepted } = await startRelay();
  const { socket, text, closed } = await open();
  socket.write(`${opening('/nats', 'Cookie: rtr=secret', 'Authorization: Bearer secret')}CONNECT`);
  await until(() => text().endsWith('INFO'));
  expect(readRawAnswer(text())).toMatchObject({ status: 101, headers: { upgrade: 'websocket' } });
  expect(accepted[0]?.request.url).toBe('/');
  expect(accepted[0]?.request.headers).toEqual({
    host: 'router',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'a2V5',
    'x-forwarded-for': '127.0.0.1',
  });
  socket.write(' PUB');
  await until(() => accepted[0]?.text() === 'CONNECT PUB');
  accepted[0]?.socket.end('-ERR');
  await closed;
  expect(text()).toMatch(/INFO-ERR$/);
});

it('the end of a worker ends its connection to NATS', async () => {
  const { join, accepted } = await startRelay();
  const { socket } = await join();
  socket.destroy();
  await until(() => expect(accepted[0]?.socket.destroyed).toBe(true));
});

it('a worker that does not read holds up what NATS sends', async () => {
  const { join, accepted } = await startRelay();
  const { socket, text } = await join();
  socket.pause();
  const [{ socket: nats } = { socket: undefined }] = accepted;
  const chunk = Buffer.alloc(1024 * 1024, 'a');
  // More than all buffers on the way have room for.
  for (let sent = 0; sent < 32; sent += 1) nats?.write(chunk);
  const unsent = () => nats?.writableLength ?? 0;
  await until(() => unsent() < 32 * chunk.length);
  await until(async () => {
    const before = unsent();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return unsent() === before;
  });
  expect(unsent()).toBeGreaterThan(8 * chunk.length);
  socket.resume();
  await until(() => text().length > 32 * chunk.length);
});

it.each([
  ['at another path', opening('/api/openai/responses')],
  ['below the path', opening('/nats/leafnode')],
  ['with a body', opening('/nats', 'Content-Length: 2')],
])('a WebSocket %s is refused, and its connection serves further requests', async (_, head) => {
  const { open, accepted } = await startRelay();
  const { socket, text } = await open();
  socket.write(`${head}${head.includes('Length') ? 'ab' : ''}`);
  await until(() => text().includes('upgrade_refused'));
  expect(readRawAnswer(text()).status).toBe(426);
  socket.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => text().includes('served /next'));
  expect(accepted).toEqual([]);
});

it('a request for another protocol than WebSockets is served as if it asked for none', async () => {
  const { open } = await startRelay();
  const { socket, text } = await open();
  // As Java's client sends with every request.
  socket.write('GET /nats HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n');
  await until(() => text().includes('served /nats'));
  expect(readRawAnswer(text()).status).toBe(200);
});

it('a WebSocket behind a request without an answer waits for it, and is refused', async () => {
  const { open, served, accepted, openRequests } = await startRelay();
  const { socket } = await open();
  socket.write(`GET /open HTTP/1.1\r\nHost: a\r\n\r\n${opening()}`);
  await until(() => served.length === 1);
  socket.destroy();
  await until(() => openRequests.count === 0);
  expect(accepted).toEqual([]);
});

it('a relayed connection does not count as one that waits for a request', async () => {
  const { join, open } = await startRelay({ waiting: 2 });
  const workers = [await join(), await join(), await join()];
  const waiting = [await open(), await open(), await open()];
  await until(() => waiting.filter(({ socket }) => socket.destroyed).length === 1);
  expect(workers.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
});

it('connections that NATS has not checked end the oldest of them, and none that NATS has admitted', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { join } = await startRelay({ max: 2 });
  const admitted = [await join(), await join()];
  vi.advanceTimersByTime(5_000);
  const unchecked = [await join(), await join(), await join()];
  await until(() => unchecked[0]?.socket.destroyed === true);
  expect([...admitted, ...unchecked.slice(1)].map(({ socket }) => socket.destroyed)).toEqual(Array(4).fill(false));
  vi.advanceTimersByTime(5_000);
  await until(() => admitted.every(({ socket }) => socket.destroyed));
  expect(unchecked.slice(1).map(({ socket }) => socket.destroyed)).toEqual([false, false]);
});

it('relayed connections take at most an eighth of the memory of a process', () => {
  expect(computeMaxRelayed(1024 ** 3)).toBe(512);
  expect(computeMaxRelayed(0)).toBe(800);
});

it('a worker is told when NATS cannot be reached, or refuses its WebSocket', async () => {
  const { port, stop } = await serveHttp();
  await stop();
  const away = await (await startRelay({ url: `ws://127.0.0.1:${port}` })).open();
  away.socket.write(opening());
  await away.closed;
  expect(readRawAnswer(away.text())).toMatchObject({ status: 503, body: 'NATS cannot be reached.' });
  const strict = await serveHttp((_, response) => response.writeHead(400).end());
  onTestFinished(strict.stop);
  const refused = await (await startRelay({ url: `ws://127.0.0.1:${strict.port}` })).open();
  refused.socket.write(opening());
  await refused.closed;
  expect(readRawAnswer(refused.text())).toMatchObject({ status: 400, body: 'NATS refuses this WebSocket.' });
});

it('a worker does not wait for a NATS that accepts connections and says nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const reached: Socket[] = [];
  const silent = createServer((socket) => void reached.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  onTestFinished(() => {
    for (const socket of reached) socket.destroy();
    silent.close();
  });
  const { open } = await startRelay({ url: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}` });
  const { socket, text, closed } = await open();
  socket.write(opening());
  await until(() => reached.length === 1);
  vi.advanceTimersByTime(5_000);
  await closed;
  expect(readRawAnswer(text()).status).toBe(503);
});
