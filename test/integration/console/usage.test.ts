import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis, type RedisConnection } from '#shared/accounts/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
let other: { url: string };
let connection: RedisConnection;
let ada: ConsoleClient;

beforeAll(async () => {
  cluster = await startCluster();
  other = await cluster.addIngress();
  const log = createLog({ service: 'test', level: 'silent', format: 'json' });
  connection = connectRedis(inject('redisUrl'), { log, name: 'test' });
  await connection.whenReady(AbortSignal.timeout(5_000));
  const accounts = openAccounts(connection.redis, `${cluster.prefix}:`);
  ada = new ConsoleClient(cluster.url);
  const link = await accounts.links.issueFirstAdmin();
  await ada.post(`/links/${link}`, { name: 'Ada', email: 'ada@example.com', password: goodPassword });
});

afterAll(async () => {
  connection.close();
  await cluster.stop();
});

const ask = (url: string, key: string): Promise<Response> =>
  fetch(`${url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello!' }] }),
  });

describe("a key's use", () => {
  it('has the price and the limit that an admin sets, and shows in the console', async () => {
    const price = { input: 1_000, output: 2_000, asOf: '2026-11-01' };
    expect((await ada.put('/prices/demo', price)).body).toMatchObject({ model: 'demo', source: 'changed' });
    const { body } = await ada.post('/keys', { kind: 'user', name: 'laptop', limits: { requestsPerMinute: 2 } });
    const key = String(body.raw);
    const first = await ask(cluster.url, key);
    const { usage } = (await first.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
    const cost = (usage.prompt_tokens * 1_000 + usage.completion_tokens * 2_000) / 1e6;
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect((await ask(other.url, key)).status).toBe(200);
    expect((await ask(other.url, key)).status).toBe(429);

    const limits = (await ada.get('/usage/now')).body;
    expect(limits).toMatchObject([{ name: 'laptop', limits: [{ name: 'requestsPerMinute', limit: 2 }] }]);
    await until(async () => (await ada.get('/usage/requests')).body.requests.length === 2);
    const { requests } = (await ada.get('/usage/requests')).body;
    expect(requests).toMatchObject([{}, { key: { name: 'laptop' }, owner: { kind: 'user', name: 'Ada' }, cost }]);
    const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
    const report = (await ada.get(`/usage?${range}&step=day&by=user`)).body;
    expect(report.groups).toMatchObject([{ name: 'Ada', totals: { requests: 2 } }]);
    expect(report.totals.cost).toBeCloseTo(2 * cost, 9);
    const audit = (await ada.get('/audit')).body.data;
    expect(JSON.stringify(audit)).toContain('price.change');
  });
});
