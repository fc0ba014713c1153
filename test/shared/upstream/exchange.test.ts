import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
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

it('chunks of a body that arrive together are passed on together, also before its end and before it breaks off', async () => {
  const { port, answers } = await startServer();
  const pool = new Pool(`http://127.0.0.1:${port}`);
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
    const exchange = new Exchange(listener, { firstMs: 5_000, idleMs: 5_000 }, new AbortController().signal);
    answers.push(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'2\r\nab\r\n'.repeat(500)}${end}`);
    pool.dispatch({ path: '/', method: 'GET' }, exchange);
    if (end.startsWith('0')) await exchange.done;
    else await expect(exchange.done).rejects.toThrow();
    expect(seen).toEqual(['ab'.repeat(500)]);
  }
});

/** A server that answers each request with the next of these bytes. */
async function startServer(): Promise<{ port: number; answers: string[] }> {
  const answers: string[] = [];
  const server = createNetServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => socket.write(answers.shift() ?? ''));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, answers };
}
