import { describe, expect, it } from 'vitest';
import { openRaw, readRawAnswer } from '../../../helpers/clients/raw-http.ts';
import { chatRequest, useScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { until } from '../../../helpers/until.ts';

const cluster = useScriptedCluster({}, {});

const body = JSON.stringify(chatRequest([{ write: '{"id":"a"}' }]));

/** Sends the head of a request that waits for `100 Continue`. */
async function ask(key: string, bytes: number) {
  const raw = await openRaw(cluster.url);
  raw.socket.write(
    `POST /api/openai/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n` +
      `content-length: ${bytes}\r\nexpect: 100-continue\r\n\r\n`,
  );
  return raw;
}

describe('a client that waits with its body', () => {
  it('is asked to send it, and gets its answer', async () => {
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
  ])('and %s is refused without it', async (_, key, bytes, status) => {
    const { socket, text } = await ask(key || cluster.key, bytes);
    await until(() => text().includes('\r\n\r\n{'));
    expect(readRawAnswer(text()).status).toBe(status);
    socket.destroy();
  });
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
