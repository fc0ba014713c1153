import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { Exchange } from '#shared/upstream/exchange.ts';

it('an answer that streams does not keep the memory that its head was read into', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'x-answer': 'yes' });
    response.write('data: 1\n\n');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => pool.destroy());
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
  const exchange = new Exchange(listener, { firstMs: 5_000, idleMs: 5_000 }, client.signal);
  let controller: Dispatcher.DispatchController | undefined;
  const onRequestStart = exchange.onRequestStart.bind(exchange);
  exchange.onRequestStart = (given) => {
    controller = given;
    onRequestStart(given);
  };
  pool.dispatch({ path: '/', method: 'GET' }, exchange);
  expect(await arrived).toBe('data: 1\n\n');
  expect(seen).toBe('yes');
  expect(controller?.rawHeaders).toBeNull();
  client.abort(new Error('over'));
  await expect(exchange.done).rejects.toThrow('over');
});
