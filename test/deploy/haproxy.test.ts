import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from '#services/rtr/up/servers/free-port.ts';
import { toTrustProxySetting } from '#services/ingress/http/trusted-proxies.ts';
import { temporaryFolder } from '../helpers/files/temporary-folder.ts';
import { serveHttp } from '../helpers/servers/serve-http.ts';
import { until } from '../helpers/until.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Runs the load balancer of docker-compose.yml on this machine, before a node that answers with what it has got.
 * @param changes texts of the configuration, each with what stands in its place
 */
async function startBalancer(trustedProxy: string, changes: readonly (readonly [string, string])[] = []) {
  let asked = 0;
  let slowChecks: number | undefined;
  const node = await serveHttp((request, response) => {
    if (slowChecks !== undefined && request.url === '/health') {
      slowChecks += 1;
      return;
    }
    asked += 1;
    const answer = JSON.stringify(request.headers);
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(answer));
  });
  onTestFinished(() => node.stop());
  const [port, health] = [await findFreePort(), await findFreePort()];
  const file = join(temporaryFolder(), 'haproxy.cfg');
  let text = readFileSync(join(root, 'deploy/compose/haproxy.cfg'), 'utf8');
  for (const [from, to] of [
    ['bind :8484\n', `bind 127.0.0.1:${port}\n`],
    ['bind 127.0.0.1:8485', `bind 127.0.0.1:${health}`],
    ['server-template node 32 ingress:8484', `server node 127.0.0.1:${node.port}`],
    [' resolvers docker init-addr none\n', '\n'],
    ...changes,
  ] as const) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  writeFileSync(file, text);
  const env = { ...process.env, TRUSTED_PROXY: trustedProxy, TLS_FOLDER: '' };
  const child = spawn('haproxy', ['-db', '-f', file], { env, stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(url)).status === 200);
  return {
    port,
    asked: () => asked,
    /** Lets health checks wait for ever, until the load balancer no longer counts on the node. */
    stopChecks: async () => {
      slowChecks = 0;
      await until(() => Number(slowChecks) > 4);
    },
    ask: async (headers: Record<string, string>) => {
      const answer = await fetch(url, { headers });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> };
    },
  };
}

/** What the answer to bytes is; empty where the connection is reset. @param meanwhile called when the bytes are sent */
function answerTo(
  port: number,
  bytes: string,
  meanwhile?: (socket: Socket) => void,
  localAddress = '127.0.0.1',
): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (piece: string) => (text += piece)).on('error', () => undefined);
  socket.write(bytes);
  meanwhile?.(socket);
  return new Promise((resolve) => void socket.once('close', () => resolve(text)));
}

describe('the load balancer of Compose', { tags: ['haproxy'] }, () => {
  it('names one address, the one that a proxy in front has added', async () => {
    const behind = await startBalancer('127.0.0.1');
    const { body } = await behind.ask({ 'x-forwarded-for': '6.6.6.6, 10.1.1.1', 'x-forwarded-proto': 'https' });
    expect(body).toMatchObject({ 'x-forwarded-for': '10.1.1.1', 'x-forwarded-proto': 'https' });
    const open = await startBalancer('192.0.2.1');
    const forged = { 'x-forwarded-for': '6.6.6.6', 'x-forwarded-host': 'evil.example.com' };
    const direct = (await open.ask({ ...forged, 'x-forwarded-proto': 'https' })).body;
    expect(direct).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(direct['x-forwarded-host']).toBeUndefined();
  });

  it('bounds the requests of one address, and answers in JSON', async () => {
    const { ask, asked, port } = await startBalancer('127.0.0.1', [['gt 10000', 'gt 20']]);
    const upload = 'POST / HTTP/1.1\r\nhost: router\r\ntransfer-encoding: chunked\r\n\r\n';
    const of = (address: string) => ask({ 'x-forwarded-for': address });
    for (let n = 0; n < 20; n += 1) expect((await of('10.1.1.1')).status).toBe(200);
    const refused = await of('10.1.1.1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(refused.body).toMatchObject({ type: 'error', error: { code: 'too_many_requests' } });
    expect((await of('10.1.1.2')).status).toBe(200);
    const before = asked();
    const wrong = (socket: Socket) => void until(() => asked() > before).then(() => socket.write('zz\r\n'));
    const [head = '', body = ''] = (await answerTo(port, upload, wrong)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(head).toMatch(/content-type: application\/json/i);
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error', code: 'bad_request' } });
  });

  it('sends requests on even if no node answers a health check in time', async () => {
    const { ask, stopChecks } = await startBalancer('127.0.0.1', [['inter 1s', 'inter 100ms']]);
    await stopChecks();
    expect((await ask({})).status).toBe(200);
  });

  it('serves a connection that was opened among too many, once there are fewer', async () => {
    const { port } = await startBalancer('192.0.2.1', [['gt 7500', 'gt 10']]);
    const held = Array.from({ length: 8 }, () => connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }));
    onTestFinished(() => held.forEach((socket) => socket.destroy()));
    const ask = () => answerTo(port, 'GET / HTTP/1.0\r\n\r\n', undefined, '127.0.0.2');
    await until(async () => (await ask()).includes('"too_many_connections"'));
    const fewer = Promise.withResolvers<void>();
    const early = answerTo(
      port,
      'GET / HTTP/1.0\r\n',
      (socket) => void fewer.promise.then(() => socket.write('\r\n')),
      '127.0.0.2',
    );
    expect(await ask()).toContain('"too_many_connections"');
    for (const socket of held) socket.destroy();
    await until(async () => (await ask()).includes(' 200 '));
    fewer.resolve();
    expect(await early).toContain(' 200 ');
  });

  it('gives the connections of an address half of what others leave, and refuses the last of them in JSON', async () => {
    const { port } = await startBalancer('192.0.2.1', [
      ['gt 8000', 'gt 40'],
      ['gt 7500', 'gt 34'],
    ]);
    const held: Socket[] = [];
    onTestFinished(() => held.forEach((socket) => socket.destroy()));
    const hold = (localAddress: string, count: number): void => {
      for (let n = 0; n < count; n += 1)
        held.push(connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined));
    };
    const askFrom = (address: string) => answerTo(port, 'GET / HTTP/1.0\r\n\r\n', undefined, address);
    hold('127.0.0.2', 17);
    await until(async () => (await askFrom('127.0.0.2')).includes('"too_many_connections"'));
    expect(await askFrom('127.0.0.2')).toMatch(/^HTTP\/1.1 429 [^]*content-type: application\/json/i);
    hold('127.0.0.2', 30);
    await until(async () => (await askFrom('127.0.0.2')) === '');
    expect(await askFrom('127.0.0.3')).toContain(' 200 ');
    hold('127.0.0.3', 30);
    await until(async () => (await askFrom('127.0.0.3')) === '');
    expect(await askFrom('127.0.0.4')).toContain(' 200 ');
    for (const socket of held) socket.destroy();
    await until(async () => (await askFrom('127.0.0.2')).includes(' 200 '));
  });
});

it('an ingress of Compose believes the one hop that its load balancer is, and no networks', () => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const { services } = parse(text, { merge: true, maxAliasCount: -1 });
  expect(toTrustProxySetting([services.ingress.environment.TRUSTED_PROXIES])).toBe(1);
});
