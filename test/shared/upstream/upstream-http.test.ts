import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import { startProcess } from '../../helpers/processes/start-process.ts';
import { makeCertificates } from '../../helpers/servers/make-certificates.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const timeouts = { firstMs: 30_000, idleMs: 30_000 };
const listener = { onStart: () => undefined, onData: () => 'more' as const };
const never = new AbortController().signal;

/** An upstream at this address with one connection. */
function upstreamAt(url: string): UpstreamHttp {
  const options = {
    url,
    connections: 1,
    connectTimeoutMs: 20_000,
    headers: () => ({}),
    allowH2: url.startsWith('https'),
  };
  return stopAfterTest(new UpstreamHttp(options));
}

it('a body in pieces arrives whole and with its length, whether it is short or long, over one connection', async () => {
  const came: { length?: string; encoding?: string; body: Buffer; port: number | undefined }[] = [];
  const url = await serveInTest(async (request, response) => {
    const { 'content-length': length = '', 'transfer-encoding': encoding = '' } = request.headers;
    came.push({ length, encoding, body: await buffer(request), port: request.socket.remotePort });
    response.end('{}');
  });
  const http = upstreamAt(url);
  for (const bytes of [10, 300_000, 3_000_000, 20]) {
    const body = [randomBytes(bytes), randomBytes(7), randomBytes(bytes)];
    await http.send({ path: '/', body }, listener, timeouts, never);
    const whole = Buffer.concat(body);
    const last = came.at(-1);
    expect(last?.body.equals(whole)).toBe(true);
    expect(last).toMatchObject({ length: String(whole.length), encoding: '' });
  }
  expect(new Set(came.map(({ port }) => port)).size).toBe(1);
});

it('a body in pieces is not sent further if the request is cancelled', async () => {
  const cut = Promise.withResolvers<unknown>();
  const cancel = new AbortController();
  const url = await serveInTest(async (request) => {
    // A server that reads nothing keeps most of it from being sent.
    await once(request, 'readable');
    cancel.abort(new Error('enough'));
    await sleep(50);
    cut.resolve(await buffer(request).catch((error: unknown) => error));
  });
  const body = Array.from({ length: 40 }, () => Buffer.alloc(1_000_000));
  const sent = upstreamAt(url).send({ path: '/', body }, listener, timeouts, cancel.signal);
  await expect(sent).rejects.toThrow('enough');
  expect(await cut.promise).toMatchObject({ code: 'ECONNRESET' });
});

it('an upstream is not read on while there is no room, and is silent without exceeding a timeout', async () => {
  const pieceBytes = 64 * 1024;
  const pieces = 512;
  let accepted = 0;
  const url = await serveInTest(async (_, response) => {
    for (let piece = 0; piece < pieces; piece += 1) {
      if (!response.write(Buffer.alloc(pieceBytes))) await once(response, 'drain');
      accepted += pieceBytes;
    }
    response.end();
  });
  let received = 0;
  const room = Promise.withResolvers<void>();
  let isFull = true;
  const paused = {
    ...listener,
    onData: (chunk: Buffer): 'more' => {
      received += chunk.length;
      return 'more';
    },
    waitForRoom: () => (isFull ? room.promise : undefined),
  };
  const body = [Buffer.from('{}')];
  // Longer than this process may stand still while the rest arrives.
  const idleMs = 3_000;
  const sent = upstreamAt(url).send({ path: '/', body }, paused, { ...timeouts, idleMs }, never);
  await until(() => received > 0);
  await sleep(idleMs + 200);
  // What the kernel's buffers take, and no more.
  expect(received).toBeLessThan(2 * pieceBytes);
  expect(accepted).toBeLessThan((pieces * pieceBytes) / 2);
  isFull = false;
  room.resolve();
  await sent;
  expect(received).toBe(pieces * pieceBytes);
});

describe('an upstream that speaks HTTP/2', { tags: ['openssl'] }, () => {
  const folder = useFolder();
  const upstream = useStarted(async () => {
    const { certFile, keyFile, caFile } = makeCertificates(folder);
    const server = createSecureServer({ key: readFileSync(keyFile), cert: readFileSync(certFile), allowHTTP1: true });
    const seen = { sessions: 0, aborted: 0, versions: new Set<string>() };
    server.on('session', () => (seen.sessions += 1));
    server.on('request', (request, response: Http2ServerResponse) => {
      seen.versions.add(request.httpVersion);
      if (request.url === '/models') {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"data":[{"id":"m"}]}');
        return;
      }
      request.on('aborted', () => (seen.aborted += 1));
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\n');
    });
    await once(server.listen(0), 'listening');
    const url = `https://localhost:${(server.address() as AddressInfo).port}`;
    return { url, caFile, seen, close: () => void server.close() };
  });

  it('is reached over one connection, which an abort does not close', async () => {
    const { url, caFile, seen } = upstream;
    const script = startProcess('test/helpers/clients/ask-over-h2.ts', { UPSTREAM: url, NODE_EXTRA_CA_CERTS: caFile });
    onTestFinished(async () => void (await script.stop()));
    await script.line('aborted');
    await until(() => seen.aborted === 3);
    expect(seen.versions).toEqual(new Set(['2.0']));
    // One for the queries, one for all the jobs.
    expect(seen.sessions).toBe(2);
  });

  it('is refused if its certificate is not trusted', async () => {
    const refusal = { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' };
    await expect(upstreamAt(upstream.url).get('/models')).rejects.toMatchObject(refusal);
  });
});
