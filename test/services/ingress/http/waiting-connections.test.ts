import { once } from 'node:events';
import express, { type Response } from 'express';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createClientServer } from '#services/ingress/http/client-server.ts';
import { OpenRequests } from '#services/ingress/http/open-requests.ts';
import {
  computeMaxWaitingConnections,
  createPeerCheck,
  WaitingConnections,
  type ClientConnection,
} from '#services/ingress/http/waiting-connections.ts';
import { openRaw } from '../../../helpers/clients/raw-http.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

/** Opens connections from addresses, and returns those that are open. */
function openFrom(waiting: WaitingConnections, addresses: readonly string[]): ClientConnection[] {
  return addresses.map((remoteAddress) => {
    const connection: ClientConnection = Object.assign(new Duplex(), { remoteAddress });
    waiting.open(connection);
    return connection;
  });
}

const repeat = (address: string, count: number): string[] => Array.from({ length: count }, () => address);
const countOpen = (connections: readonly ClientConnection[]) =>
  connections.filter(({ destroyed }) => !destroyed).length;

it('connections of one network that wait for a request take all places while nobody else wants one', () => {
  const waiting = new WaitingConnections(16, () => true);
  const balancer = openFrom(waiting, repeat('192.0.2.1', 16));
  expect(countOpen(balancer)).toBe(16);
  openFrom(waiting, repeat('192.0.2.1', 14));
  expect(balancer.map(({ destroyed }) => destroyed)).toEqual([...Array(14).fill(true), false, false]);
});

it('connections of networks that want all places end the ones that have waited for longest of the network with the most', () => {
  const waiting = new WaitingConnections(16, () => true);
  const quiet = openFrom(waiting, repeat('192.0.2.2', 5));
  const loud = openFrom(waiting, repeat('192.0.2.1', 30));
  expect([countOpen(quiet), countOpen(loud)]).toEqual([5, 11]);
  const more = openFrom(waiting, repeat('192.0.2.2', 30));
  expect([countOpen(quiet) + countOpen(more), countOpen(loud)]).toEqual([8, 8]);
  openFrom(waiting, repeat('192.0.2.1', 30));
  expect(countOpen(quiet) + countOpen(more)).toBe(8);
});

it('connections from a site of IPv6 count together, from whichever of its networks they come', () => {
  const waiting = new WaitingConnections(16, () => true);
  const site = Array.from({ length: 30 }, (_, at) => `2001:db8:1:${at.toString(16)}::1`);
  const others = openFrom(waiting, repeat('2001:db8:2::1', 2));
  expect(countOpen(openFrom(waiting, site))).toBe(14);
  expect(countOpen(others)).toBe(2);
});

it('connections from more addresses than may wait end the ones of the address with the most', () => {
  const waiting = new WaitingConnections(16, () => true);
  const loud = openFrom(waiting, repeat('192.0.2.1', 16));
  const others = openFrom(
    waiting,
    Array.from({ length: 15 }, (_, at) => `198.51.100.${at}`),
  );
  expect([countOpen(loud), countOpen(others)]).toEqual([1, 15]);
});

it.each([
  [[], '192.0.2.1', 16],
  [['192.0.2.0/24'], '192.0.2.1', 30],
  [['192.0.2.0/24'], '::ffff:192.0.2.1', 30],
  [['192.0.2.0/24'], '203.0.113.1', 16],
  [['1'], '203.0.113.1', 30],
])('with the proxies %s in front, connections from %s that wait are at most %i of 30', (proxies, address, open) => {
  const waiting = new WaitingConnections(16, createPeerCheck(proxies));
  expect(countOpen(openFrom(waiting, repeat(address, 30)))).toBe(open);
});

it('the memory of waiting connections is at most a quarter of the memory of a process', () => {
  expect(computeMaxWaitingConnections(1024 ** 3)).toBe(4096);
  expect(computeMaxWaitingConnections(0)).toBe(20_000);
});

it('a server ends connections with incomplete heads, and none that is being answered', async () => {
  const answering: Response[] = [];
  const app = express().use((_, response) => void answering.push(response));
  const server = createClientServer(app, {
    log: silentLog,
    openRequests: new OpenRequests(),
    countRefusal: () => undefined,
    bodyTimeoutMs: 60_000,
    waitingConnections: new WaitingConnections(16, () => true),
    directRoutes: [],
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.close().closeAllConnections());
  const open = () => openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const asking = await open();
  asking.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => answering.length === 1);
  const heads = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const raw = await open();
      raw.socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-');
      return raw;
    }),
  );
  await until(() => heads.filter(({ socket }) => socket.destroyed).length === 14);
  expect(asking.socket.destroyed).toBe(false);
  answering[0]?.end('done');
  await until(() => asking.text().includes('done'));
  // A connection that is kept alive waits as the others do.
  await until(() => heads.filter(({ socket }) => socket.destroyed).length === 15);
  expect(asking.socket.destroyed).toBe(false);
});
