import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';
import { until } from '../helpers/until.ts';

let redis: TestServer;
let cluster: Cluster;

beforeAll(async () => {
  redis = await startRedis();
  cluster = await startCluster({ redisUrl: redis.url, ingress: { STORE_WAIT_MS: '4000' } });
});
afterAll(async () => {
  await cluster.stop();
  await redis.stop();
});

async function post(path: string, fields: object, key = cluster.key): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${cluster.url}/api/openai/v1/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'demo', ...fields }),
  });
  return { status: answer.status, body: await answer.json() };
}

const messages = [{ role: 'user', content: 'Hello.' }];
const chat = (key: string): Promise<{ status: number; body: unknown }> => post('chat/completions', { messages }, key);

describe('a restart of Redis', () => {
  it('fails no request: of a limited key, of a key that is not known yet, and one that continues a stored response', async () => {
    const limited = await cluster.addKey({ limits: { requestsPerMinute: 1_000 } });
    const unknown = await cluster.addKey({});
    const first = await post('responses', { input: 'Remember this.' });
    expect(first.status).toBe(200);
    expect((await chat(limited.raw)).status).toBe(200);
    const { id: previous } = first.body as { id: string };

    const asked: Promise<{ status: number; body: unknown }>[] = [];
    const ask = (): void => {
      asked.push(
        chat(limited.raw),
        chat(unknown.raw),
        post('responses', { input: 'Go on.', previous_response_id: previous, store: false }),
      );
    };
    // Some are under way when it goes.
    ask();
    const killed = redis.kill();
    ask();
    await killed;
    for (let round = 0; round < 5; round += 1) {
      ask();
      await sleep(200);
    }
    await redis.restart();
    for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ status: 200 });
  });

  it('that takes longer than STORE_WAIT_MS fails those that waited, and then all others at once', async () => {
    const { raw } = await cluster.addKey({ limits: { requestsPerMinute: 1_000 } });
    await until(async () => (await chat(raw)).status === 200);
    await redis.kill();
    const lostAt = performance.now();
    expect(await chat(raw)).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
    expect(performance.now() - lostAt).toBeGreaterThan(3_500);
    const again = performance.now();
    expect(await chat(raw)).toMatchObject({ status: 503, body: { error: { code: 'store_unavailable' } } });
    expect(performance.now() - again).toBeLessThan(500);
    // Keys without limits need nothing of it.
    expect((await chat(cluster.key)).status).toBe(200);
    await redis.restart();
    await until(async () => (await chat(raw)).status === 200);
  });

  it.each(['batches', 'files'])('holds no place of a client that leaves meanwhile, of %s', async (path) => {
    const { url } = await cluster.addIngress({ MAX_ACTIVE: '1' });
    const { raw } = await cluster.addKey({});
    const json = { 'content-type': 'application/json' };
    const isServed = async (): Promise<boolean> => {
      const headers = { authorization: `Bearer ${cluster.key}`, ...json };
      const body = JSON.stringify({ model: 'demo', messages });
      return (await fetch(`${url}/api/openai/v1/chat/completions`, { method: 'POST', headers, body })).ok;
    };
    await until(isServed);
    const batch = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' };
    const form = new FormData();
    form.append('purpose', 'batch');
    form.append('file', new Blob(['{}']), 'a.jsonl');
    const sent =
      path === 'files'
        ? { headers: { authorization: `Bearer ${raw}` }, body: form }
        : { headers: { authorization: `Bearer ${cluster.key}`, ...json }, body: JSON.stringify(batch) };
    await redis.pause();
    const leave = new AbortController();
    const left = fetch(`${url}/api/openai/v1/${path}`, { method: 'POST', ...sent, signal: leave.signal });
    const outcome = left.catch(() => 'left');
    await sleep(300);
    leave.abort();
    expect(await outcome).toBe('left');
    await sleep(100);
    await redis.resume();
    // It goes on for the client that has left, and then its place is free.
    await sleep(300);
    await until(isServed);
    expect(await isServed()).toBe(true);
  });
});
