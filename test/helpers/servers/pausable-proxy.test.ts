import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startPausableProxy } from './pausable-proxy.ts';

it.each(['end', 'reset'] as const)(
  'a delayed proxy delivers all bytes from before the %s of a connection',
  async (end) => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const proxy = await startPausableProxy((server.address() as AddressInfo).port);
    onTestFinished(() => proxy.close());
    const client = connect(proxy.port, '127.0.0.1');
    const [accepted] = await once(server, 'connection');
    const received: string[] = [];
    accepted.on('data', (piece: Buffer) => void received.push(piece.toString()));
    proxy.delay(50);
    client.write('the last word');
    // The bytes are with the proxy.
    await sleep(10);
    if (end === 'end') client.destroy();
    else client.resetAndDestroy();
    await once(accepted, 'close');
    expect(received.join('')).toBe('the last word');
  },
);
