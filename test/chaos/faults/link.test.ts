import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startLink } from './link.ts';

it.each(['end', 'reset'] as const)(
  'a delayed link delivers what was sent before the %s of a connection',
  async (end) => {
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const link = await startLink([(server.address() as AddressInfo).port]);
    onTestFinished(() => link.close());
    const { port } = new URL(link.url);
    const client = connect(Number(port), '127.0.0.1');
    const [accepted] = await once(server, 'connection');
    const received: string[] = [];
    accepted.on('data', (piece: Buffer) => void received.push(piece.toString()));
    link.delay(50);
    client.write('the last word');
    // It is with the link.
    await sleep(10);
    if (end === 'end') client.destroy();
    else client.resetAndDestroy();
    await once(accepted, 'close');
    expect(received.join('')).toBe('the last word');
  },
);
