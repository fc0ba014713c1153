import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { Exchange } from '#shared/upstream/exchange.ts';
import { serveLocal } from './serve-local.ts';

const timeouts = { firstMs: 5_000, idleMs: 5_000 };

class WatchedExchange extends Exchange {
  controller: Dispatcher.DispatchController | undefined;

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    super.onRequestStart(controller);
  }
}

it('a streamed answer does not keep the memory that its head was read into', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'x-answer': 'yes' });
    response.write('data: 1\n\n');
  });
  const pool = new Pool(await serveLocal(server));
  onTestFinished(() => pool.destroy());
  onTestFinished(() => server.closeAllConnections());
  const client = new AbortController();
  const { promise: arrived, resolve } = Promise.withResolvers<string | undefined>();
  let seen: unknown;
  const listener = {
    onStart: (_: number, headers: Record<string, unknown>): void => void (seen = headers['x-answer']),
    onData: (chunk: Buffer): 'more' => {
      resolve(chunk.toString());
      return 'more';
    },
  };
  const exchange = new WatchedExchange(listener, timeouts, client.signal);
  pool.dispatch({ path: '/', method: 'GET' }, exchange);
  expect(await arrived).toBe('data: 1\n\n');
  expect(seen).toBe('yes');
  expect(exchange.controller?.rawHeaders).toBeNull();
  client.abort(new Error('over'));
  await expect(exchange.done).rejects.toThrow('over');
});

it('chunks of a body that arrive together are passed on together, also before its end and before it breaks off', async () => {
  const answers: string[] = [];
  const server = createNetServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.write(answers.shift() ?? ''));
  });
  const pool = new Pool(await serveLocal(server));
  onTestFinished(() => pool.destroy());
  for (const end of ['0\r\n\r\n', 'no length\r\n']) {
    const seen: string[] = [];
    const listener = {
      onStart: () => undefined,
      onData: (chunk: Buffer): 'more' => {
        seen.push(chunk.toString());
        return 'more';
      },
    };
    const exchange = new Exchange(listener, timeouts, new AbortController().signal);
    answers.push(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'2\r\nab\r\n'.repeat(500)}${end}`);
    pool.dispatch({ path: '/', method: 'GET' }, exchange);
    if (end.startsWith('0')) await exchange.done;
    else await expect(exchange.done).rejects.toThrow();
    expect(seen).toEqual(['ab'.repeat(500)]);
  }
});

it('a finished answer ends within two seconds even if its upstream does not close it and continues to write', async () => {
  const server = createServer((_, response) => {
    response.write('data: 1\n\n');
    const beats = setInterval(() => response.write(': alive\n\n'), 100);
    response.on('close', () => clearInterval(beats));
  });
  const pool = new Pool(await serveLocal(server));
  onTestFinished(() => pool.destroy());
  onTestFinished(() => server.closeAllConnections());
  const listener = {
    onStart: () => undefined,
    onData: (chunk: Buffer) => (chunk.includes('data') ? ('finished' as const) : ('nothing' as const)),
  };
  const exchange = new Exchange(listener, { firstMs: 20_000, idleMs: 20_000 }, new AbortController().signal);
  const closed = once(server, 'request').then(([, response]) => once(response as ServerResponse, 'close'));
  pool.dispatch({ path: '/', method: 'GET' }, exchange);
  await expect(exchange.done).resolves.toBeUndefined();
  await closed;
});
