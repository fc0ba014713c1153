import type { Request } from 'express';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Agent, fetch } from 'undici';
import { expect, it, onTestFinished, vi } from 'vitest';
import { NatsRelay } from '#services/ingress/http/nats-relay.ts';
import { WaitingConnections } from '#services/ingress/http/waiting-connections.ts';
import { makeCertificate } from '#services/rtr/up/tls/make-certificate.ts';
import { listTlsFiles, type ServerCertificate, TlsFolder } from '#shared/core/tls/tls-folder.ts';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { serveHttp } from '../../../helpers/servers/serve-http.ts';
import { startClientServer } from '../../../helpers/servers/start-client-server.ts';
import { silentLog as log } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

const certificate = makeCertificate(new Date());

function writeCertificate(folder: string, { cert, key }: ServerCertificate): void {
  const { certFile, keyFile } = listTlsFiles(folder);
  mkdirSync(folder, { recursive: true });
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
}

/** Starts a server that answers each request with its protocol, the client's address and the length of the body. */
async function startSecured({ max = 100, relay }: { max?: number; relay?: NatsRelay } = {}) {
  const folder = temporaryFolder();
  writeCertificate(folder, certificate);
  const open: Request[] = [];
  const started = await startClientServer(
    async (request, response) => {
      if (request.path === '/open') return void open.push(request);
      let length = 0;
      for await (const chunk of request) length += (chunk as Buffer).length;
      response.json({ protocol: request.protocol, secure: request.secure, ip: request.ip, length });
    },
    { tls: new TlsFolder(folder), waitingConnections: new WaitingConnections(max, () => true), relay },
  );
  const join = async (): Promise<TLSSocket> => {
    const socket = connectTls({ port: started.port, host: '127.0.0.1', ca: certificate.cert, checkServerIdentity });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  return { ...started, folder, open, join };
}

const checkServerIdentity = () => undefined;

/** Sends a request over a connection that serves the next one, too. */
async function ask(url: string, body?: Uint8Array): Promise<unknown> {
  const dispatcher = new Agent({ connections: 1, connect: { ca: certificate.cert, checkServerIdentity } });
  onTestFinished(() => dispatcher.destroy());
  const answers = [];
  for (let at = 0; at < 2; at += 1)
    answers.push(await (await fetch(url, { dispatcher, ...(body && { method: 'POST', body }) })).json());
  expect(answers[1]).toEqual(answers[0]);
  return answers[0];
}

it('HTTPS and HTTP are served on one port, each request with its protocol and address', async () => {
  const { port } = await startSecured();
  const large = new Uint8Array(4 * 1024 * 1024);
  const facts = { ip: '127.0.0.1', length: 0 };
  expect(await ask(`https://127.0.0.1:${port}/`)).toEqual({ ...facts, protocol: 'https', secure: true });
  expect(await ask(`http://127.0.0.1:${port}/`)).toEqual({ ...facts, protocol: 'http', secure: false });
  expect(await ask(`https://127.0.0.1:${port}/`, large)).toMatchObject({ protocol: 'https', length: large.length });
  expect(await ask(`http://127.0.0.1:${port}/`, large)).toMatchObject({ protocol: 'http', length: large.length });
});

it('requests that come together with the first byte are all served', async () => {
  const { url } = await startSecured();
  const { socket, text } = await openRaw(url);
  onTestFinished(() => void socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
  await until(() => expect(text().match(/"protocol":"http"/g)).toHaveLength(3));
});

it('a text that is neither TLS nor HTTP gets the error of HTTP', async () => {
  const { url } = await startSecured();
  const { socket, text, closed } = await openRaw(url);
  socket.write('\x01\x02\r\n\r\n');
  await closed;
  expect(readRawAnswer(text()).status).toBe(400);
});

it('a renewed certificate is shown without a restart, and connections go on', async () => {
  const { folder, join } = await startSecured();
  const before = await join();
  const renewed = makeCertificate(new Date());
  writeCertificate(folder, renewed);
  const serial = (socket: TLSSocket) => socket.getPeerCertificate().serialNumber;
  expect(serial(await join())).toBe(new X509Certificate(certificate.cert).serialNumber);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  vi.advanceTimersByTime(3_600_000);
  await expect(join()).rejects.toThrow(/certificate/);
  before.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [answer] = (await once(before, 'data')) as [Buffer];
  expect(answer.toString()).toContain('200 OK');
});

it('a connection without a first byte, and one with an incomplete handshake, end as slow requests do', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { url, server } = await startSecured();
  const accepted = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    );
  const [silent, begun] = [await openRaw(url), await openRaw(url)];
  begun.socket.write(Buffer.from([0x16, 0x03, 0x01]));
  await until(async () => (await accepted()) === 2);
  // The connection with a byte gets as long again for the handshake.
  await until(() => {
    vi.advanceTimersByTime(20_000);
    return silent.socket.destroyed && begun.socket.destroyed;
  });
  expect(await accepted()).toBe(0);
});

it('a failed handshake ends its connection, and no other', async () => {
  const { port, url, join } = await startSecured();
  const good = await join();
  const { socket, closed } = await openRaw(url);
  socket.write(Buffer.concat([Buffer.from([0x16, 0x03, 0x01, 0x00, 0x10]), Buffer.alloc(64)]));
  await closed;
  const distrusting = connectTls({ port, host: '127.0.0.1' });
  await once(distrusting, 'error');
  expect(good.destroyed).toBe(false);
});

it('connections that wait count once with TLS, before the handshake and behind it, and not while they are answered', async () => {
  const { join, port, open } = await startSecured({ max: 4 });
  const answered = await join();
  answered.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => open.length === 1);
  const silent = Array.from({ length: 2 }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => silent.forEach((socket) => socket.destroy()));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const secured = [await join(), await join()];
  expect(silent.map(({ closed }) => closed)).toEqual([false, false]);
  await join();
  await until(() => expect(silent.map(({ closed }) => closed)).toEqual([true, false]));
  expect([answered, ...secured].map(({ closed }) => closed)).toEqual([false, false, false]);
});

it('a worker reaches NATS through HTTPS', async () => {
  const { server, port, stop } = await serveHttp();
  onTestFinished(stop);
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.pipe(socket);
  });
  const relay = new NatsRelay({ url: `ws://127.0.0.1:${port}`, max: 10, log });
  onTestFinished(() => relay.close());
  const { join } = await startSecured({ relay });
  const worker = await join();
  let text = '';
  worker.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  worker.write(
    'GET /nats HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n',
  );
  await until(() => text.includes(' 101 '));
  worker.write('a'.repeat(1_000_000));
  await until(() => text.length > 1_000_000);
  expect(text.endsWith('a'.repeat(1_000_000))).toBe(true);
});
