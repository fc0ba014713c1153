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
});
