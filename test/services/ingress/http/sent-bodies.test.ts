import { expect, it } from 'vitest';
import { createBodyReader } from '#services/ingress/http/read-body.ts';
import { openRaw, rawHead, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { until } from '../../../helpers/until.ts';

const cluster = useScriptedCluster({}, {});

const body = JSON.stringify(chatRequest([{ write: '{"id":"a"}' }]));

/** Sends the head of a request that waits for `100 Continue`. */
async function ask(key: string, bytes: number) {
  const raw = await openRaw(cluster.url);
  const headers = ['content-type: application/json', `content-length: ${bytes}`, 'expect: 100-continue'];
  raw.socket.write(rawHead(key, headers));
  return raw;
}

it('a client that waits with its body is asked to send it, and gets its answer', async () => {
  const { socket, text } = await ask(cluster.key, body.length);
  await until(() => text() === 'HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  await until(() => text().includes('{"id":"a"}'));
  expect(readRawAnswer(text().replace('HTTP/1.1 100 Continue\r\n\r\n', '')).status).toBe(200);
  socket.destroy();
});

it.each<[string, string, number, number]>([
  ['whose key is wrong', 'sk-wrong', 10, 401],
  ['whose body is too long', '', 10 ** 10, 413],
])('a client that waits with its body and %s is refused without it', async (_, key, bytes, status) => {
  const { socket, text } = await ask(key || cluster.key, bytes);
  await until(() => text().includes('\r\n\r\n{'));
  expect(readRawAnswer(text()).status).toBe(status);
  socket.destroy();
});

it('a body that comes in pieces of a byte counts as the memory of its pieces', async () => {
  const readBody = createBodyReader({ maxBytes: 1_000_000, timeoutMs: 60_000 });
  const url = await serveInTest(async (request, response) => {
    let held = 0;
    const grow = (bytes: number): void => {
      held += bytes;
    };
    const nothing = (): void => undefined;
    const { length } = await readBody(request, { grow, markSlow: nothing, markArrived: nothing });
    response.end(JSON.stringify({ length, held }));
  });
  const send = async (chunk: string, count: number) => {
    const { socket, text } = await openRaw(url);
    const chunks = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    await until(() => text().includes('held'));
    socket.destroy();
    return JSON.parse(/\{.*\}/.exec(text())?.[0] ?? '') as { length: number; held: number };
  };
  expect(await send('a', 1_000)).toEqual({ length: 1_000, held: 1_000 + 999 * 512 });
  expect(await send('a', 1)).toEqual({ length: 1, held: 1 });
  const large = await send('a'.repeat(1_000), 100);
  expect(large.length).toBe(100_000);
  // The socket may cut a few of them.
  expect(large.held).toBeLessThan(110_000);
});

it('only a body that does not arrive together with its headers is slow', async () => {
  const readBody = createBodyReader({ maxBytes: 1_000_000, timeoutMs: 60_000 });
  let slow = 0;
  const url = await serveInTest(async (request, response) => {
    const nothing = (): void => undefined;
    const markSlow = (): void => {
      slow += 1;
    };
    const { length } = await readBody(request, { grow: nothing, markSlow, markArrived: nothing });
    response.end(`read ${length};`);
  });
  const { socket, text } = await openRaw(url);
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody');
  await until(() => text().includes('read 4;'));
  expect(slow).toBe(0);
  socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 6\r\n\r\nbo');
  await until(() => slow === 1);
  socket.write('dies');
  await until(() => text().includes('read 6;'));
  socket.destroy();
});

it('a byte order mark in front of a body is skipped', async () => {
  const answer = await cluster.postRaw(`\uFEFF${body}`);
  expect([answer.status, await answer.text()]).toEqual([200, '{"id":"a"}']);
});

it("the paths of Anthropic's API work without /v1, too", async () => {
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${cluster.url}/api/anthropic/${path}`, { ...init, headers: { 'x-api-key': cluster.key } });
  const messages = [{ role: 'user', content: 'Hello.' }];
  const request = { method: 'POST', body: JSON.stringify({ model: 'gone', max_tokens: 1, messages }) };
  for (const path of ['messages', 'v1/messages', 'messages/count_tokens']) {
    const answer = await ask(path, request);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.json()).toMatchObject({ error: { message: 'model: gone' } });
  }
  expect(await (await ask('models')).json()).toMatchObject({ data: expect.any(Array) });
  expect(await (await ask('api/hello')).json()).toEqual({ message: 'hello' });
});
