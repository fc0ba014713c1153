import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { upstreamAt } from './serve-local.ts';

const timeouts = { firstMs: 5_000, idleMs: 5_000 };
const listener = { onStart: () => undefined, onData: () => 'more' as const };

function start(onRequest: (request: IncomingMessage) => Promise<void>): Promise<UpstreamHttp> {
  const server = createServer((request, response) => {
    onRequest(request).then(
      () => response.end('{}'),
      () => response.destroy(),
    );
  });
  return upstreamAt(server);
}

describe('a body in pieces', () => {
  it('arrives whole and with its length, whether it is short or long, over one connection', async () => {
    const came: { length: string | undefined; encoding: string | undefined; body: Buffer; port: number | undefined }[] =
      [];
    const http = await start(async (request) => {
      const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
      came.push({ length, encoding, body: await buffer(request), port: request.socket.remotePort });
    });
    for (const bytes of [10, 300_000, 3_000_000, 20]) {
      const body = [randomBytes(bytes), randomBytes(7), randomBytes(bytes)];
      await http.send({ path: '/', body }, listener, timeouts, new AbortController().signal);
      const whole = Buffer.concat(body);
      const last = came.at(-1);
      expect(last?.body.equals(whole)).toBe(true);
      expect([last?.length, last?.encoding]).toEqual([String(whole.length), undefined]);
    }
    expect(new Set(came.map(({ port }) => port)).size).toBe(1);
  });

  it('is not sent further if the request is cancelled', async () => {
    const cut = Promise.withResolvers<unknown>();
    const cancel = new AbortController();
    const http = await start(async (request) => {
      // A server that reads nothing keeps most of it from being sent.
      await once(request, 'readable');
      cancel.abort(new Error('enough'));
      await sleep(50);
      cut.resolve(await buffer(request).catch((error: unknown) => error));
    });
    const body = Array.from({ length: 40 }, () => Buffer.alloc(1_000_000));
    await expect(http.send({ path: '/', body }, listener, timeouts, cancel.signal)).rejects.toThrow('enough');
    expect(await cut.promise).toMatchObject({ code: 'ECONNRESET' });
  });
});
