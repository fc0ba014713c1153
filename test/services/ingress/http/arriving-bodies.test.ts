import express from 'express';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ArrivingBodies, computeMaxArrivingBytes } from '#services/ingress/http/arriving-bodies.ts';
import { openRaw, type RawConnection } from '../../../helpers/clients/raw-http.ts';
import { useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { until } from '../../../helpers/until.ts';

const kibibyte = 1024;

/** A server whose bodies of 64 KiB at most have 300 KiB together, and what opens requests to it that send nothing but their headers. */
async function serveBodies() {
  const app = express();
  const arrived: string[] = [];
  app.use(new ArrivingBodies(300 * kibibyte).createHandler(64 * kibibyte), ({ path }, _response, next) => {
    arrived.push(path);
    next();
  });
  app.use(express.text({ limit: 64 * kibibyte }), ({ body }, response) => void response.send(String(body)));
  const url = await serveInTest(app);
  return async (path: string, headers: string): Promise<RawConnection & { isClosed: () => boolean }> => {
    const raw = await openRaw(url);
    onTestFinished(() => void raw.socket.destroy());
    raw.socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n${headers}\r\n\r\n`);
    await until(() => expect(arrived).toContain(path));
    return { ...raw, isClosed: () => raw.socket.destroyed };
  };
}

it.each([
  ['are of a length', `content-length: ${64 * kibibyte}`],
  ['are of a length beyond their bound', 'content-length: 99999999999'],
  ['have no length', 'transfer-encoding: chunked'],
  ['are compressed', 'content-length: 20\r\ncontent-encoding: gzip'],
])('bodies that are still arriving and %s have a bound together, beyond which the oldest ends', async (_, headers) => {
  const open = await serveBodies();
  // Each counts with 80 KiB.
  const first = [await open('/0', headers), await open('/1', headers), await open('/2', headers)];
  const quick = await open('/quick', 'content-length: 4');
  quick.socket.write('here');
  await until(() => expect(quick.text()).toMatch(/\r\n\r\nhere$/));
  const all = [...first, await open('/3', headers), await open('/4', headers)];
  await until(() => expect(all.map(({ isClosed }) => isClosed())).toEqual([true, true, false, false, false]));
});

it('bodies that are still arriving are disconnected when they come in pieces of a byte, which take hundreds of bytes each', async () => {
  const open = await serveBodies();
  const chunked = await open('/chunks', 'transfer-encoding: chunked');
  const calm = await open('/calm', 'transfer-encoding: chunked');
  chunked.socket.write('1\r\n \r\n'.repeat(1_000));
  calm.socket.write(`${'1\r\n \r\n'.repeat(20)}0\r\n\r\n`);
  await until(() => expect(chunked.isClosed()).toBe(true));
  await until(() => expect(calm.text()).toContain('200 OK'));
});

it('bodies that are still arriving have a thirty-second of the memory, and 32 MiB at most', () => {
  const ofMebibytes = (memory: number) => computeMaxArrivingBytes(memory * 1_048_576) / 1_048_576;
  expect([256, 1_024, 4_096, 0].map(ofMebibytes)).toEqual([8, 32, 32, 32]);
});

const cluster = useScriptedCluster();

it.each([
  ['/console/api/session', 'application/json', 65_536],
  ['/oauth/token', 'application/x-www-form-urlencoded', 16_384],
])('strangers whose bodies for %s never end keep the memory of a bounded number', async (path, type, length) => {
  const { host, hostname, port } = new URL(cluster.url);
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\norigin: http://${host}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
  const bytes = head.padEnd(head.length + length - 1, 'a');
  let closed = 0;
  const most = Math.floor((32 * 1_048_576) / (length + 16_384));
  for (let at = 0; at < most + 50; at += 1) {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => socket.destroy()).once('close', () => (closed += 1));
    await new Promise((resolve) => socket.write(bytes, resolve));
  }
  await until(() => expect(closed).toBeGreaterThanOrEqual(50));
  const headers = { 'content-type': type };
  const answer = await fetch(`${cluster.url}${path}`, { method: 'POST', headers, body: '{}' });
  expect([400, 401]).toContain(answer.status);
  // All others still wait: nobody else ended.
  expect(closed).toBeLessThanOrEqual(52);
});
