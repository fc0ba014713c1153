import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { upstreamAt } from './serve-local.ts';
import { until } from '../../helpers/until.ts';

const pieceBytes = 64 * 1024;
const pieces = 512;

it('is not read on while there is no room, and is silent without exceeding a timeout', async () => {
  let accepted = 0;
  const server = createServer((_, response) => {
    response.writeHead(200);
    const send = async (): Promise<void> => {
      for (let piece = 0; piece < pieces; piece += 1) {
        if (!response.write(Buffer.alloc(pieceBytes))) await once(response, 'drain');
        accepted += pieceBytes;
      }
      response.end();
    };
    void send();
  });
  const http = await upstreamAt(server);
  let received = 0;
  const room = Promise.withResolvers<void>();
  let isFull = true;
  const listener = {
    onStart: () => undefined,
    onData: (chunk: Buffer): 'more' => {
      received += chunk.length;
      return 'more';
    },
    room: () => (isFull ? room.promise : undefined),
  };
  const body = [Buffer.from('{}')];
  const timeouts = { firstMs: 10_000, idleMs: 800 };
  const sent = http.send({ path: '/', body }, listener, timeouts, new AbortController().signal);
  await until(() => received > 0);
  await sleep(1_000);
  const before = received;
  // What the kernel's buffers take, and no more.
  expect(before).toBeLessThan(2 * pieceBytes);
  expect(accepted).toBeLessThan((pieces * pieceBytes) / 2);
  isFull = false;
  room.resolve();
  await sent;
  expect(received).toBe(pieces * pieceBytes);
});
