import { once } from 'node:events';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { Exchange, type AnswerListener, type Progress } from '#shared/upstream/exchange.ts';
import { serveInTest } from '../../helpers/servers/serve-http.ts';

const timeouts = { firstMs: 30_000, idleMs: 30_000 };

class WatchedExchange extends Exchange {
  controller: Dispatcher.DispatchController | undefined;

  override onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    super.onRequestStart(controller);
  }
}

/** Begins an exchange with a server, and passes each chunk to a function. */
function ask(
  url: string,
  onData: (chunk: string) => Progress,
  onStart: AnswerListener['onStart'] = () => undefined,
  within = timeouts,
) {
  const pool = new Pool(url);
  onTestFinished(() => pool.destroy());
  const client = new AbortController();
  const listener = { onStart, onData: (chunk: Buffer) => onData(chunk.toString()) };
  const exchange = new WatchedExchange(listener, within, client.signal);
  pool.dispatch({ path: '/', method: 'GET' }, exchange);
  return { exchange, client };
}

it('a streamed answer does not keep the memory that its head was read into', async () => {
  const url = await serveInTest((_, response) => {
    response.writeHead(200, { 'x-answer': 'yes' });
    response.write('data: 1\n\n');
  });
  const { promise: arrived, resolve } = Promise.withResolvers<string>();
  let seen: unknown;
  const onData = (chunk: string): Progress => {
    resolve(chunk);
    return 'more';
  };
  const { exchange, client } = ask(url, onData, (_, headers) => (seen = headers['x-answer']));
  expect(await arrived).toBe('data: 1\n\n');
  expect(seen).toBe('yes');
  expect(exchange.controller?.rawHeaders).toBeNull();
  client.abort(new Error('over'));
  await expect(exchange.done).rejects.toThrow('over');
});

it.each(['0\r\n\r\n', 'no length\r\n'])(
  'chunks of a body that arrive together are passed on together, also before it ends with %j',
  async (end) => {
    const answer = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'2\r\nab\r\n'.repeat(500)}${end}`;
    const server = createNetServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', () => socket.write(answer));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const seen: string[] = [];
    const { exchange } = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, (chunk) => {
      seen.push(chunk);
      return 'more';
    });
    if (end.startsWith('0')) await exchange.done;
    else await expect(exchange.done).rejects.toThrow();
    expect(seen).toEqual(['ab'.repeat(500)]);
  },
);

it('a finished answer ends even if its upstream does not close it and continues to write, and so does the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serveInTest((_, response) => {
    response.write('data: 1\n\n');
    const beats = setInterval(() => response.write(': alive\n\n'), 100);
    response.on('close', () => {
      clearInterval(beats);
      closed.resolve();
    });
  });
  await ask(url, (chunk) => (chunk.includes('data') ? 'finished' : 'nothing')).exchange.done;
  await expect(closed.promise).resolves.toBeUndefined();
});

it('an answer that continues after a finish reason may pause for longer than the wait for its usage', async () => {
  const finished = Promise.withResolvers<void>();
  const url = await serveInTest(async (_, response) => {
    response.write('1');
    await finished.promise;
    response.write('2');
    setTimeout(() => response.end('3'), 2_600);
  });
  const seen: string[] = [];
  const onData = (chunk: string): Progress => {
    seen.push(chunk);
    if (chunk !== '1') return 'more';
    finished.resolve();
    return 'finished';
  };
  await ask(url, onData).exchange.done;
  expect(seen).toEqual(['1', '2', '3']);
});

it('an answer that arrived while this process was blocked is read before its time is over', async () => {
  let answer: ((text: string) => void) | undefined;
  const url = await serveInTest((_, response) => {
    response.writeHead(200);
    answer = (text) => void response.write(text);
    response.write('1');
  });
  const seen: string[] = [];
  const answerLate = (text: string): void => {
    answer?.(text);
    const begun = performance.now();
    while (performance.now() - begun < 2_500);
  };
  const onData = (chunk: string): Progress => {
    seen.push(chunk);
    if (chunk === '1') setTimeout(() => setImmediate(answerLate, '2'), 20);
    // The usage of the finished answer comes late.
    if (chunk === '2') setTimeout(() => setImmediate(answerLate, '3'), 20);
    return chunk === '1' ? 'more' : chunk === '2' ? 'finished' : 'complete';
  };
  const { exchange } = ask(url, onData, undefined, { firstMs: 30_000, idleMs: 2_000 });
  await exchange.done;
  expect(seen).toEqual(['1', '2', '3']);
});
