import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintKey } from '#shared/accounts/keys/mint-key.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';
import type { ServiceProcess } from '../helpers/processes/start-process.ts';
import { startNats } from '../helpers/servers/start-nats.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import type { TestServer } from '../helpers/servers/test-server.ts';

let nats: TestServer;
let redis: TestServer;
let cluster: Cluster;
let urls: string[];
let ingresses: ServiceProcess[];

beforeAll(async () => {
  [nats, redis] = await Promise.all([startNats(), startRedis()]);
  // Keys are checked before anything else, so no worker is needed here.
  cluster = await startCluster({
    natsUrl: nats.url,
    redisUrl: redis.url,
    workers: 0,
    engineUrl: 'http://127.0.0.1:1',
    ingress: { LOG_LEVEL: 'debug', STORE_WAIT_MS: '0' },
  });
  const second = await cluster.addIngress();
  urls = [cluster.url, second.url];
  ingresses = [cluster.ingress, second.process];
});
afterAll(async () => {
  await cluster.stop();
  await Promise.all([nats.stop(), redis.stop()]);
});

/** Runs `rtr keys …` and returns the object that it prints. */
async function rtrKeys(...words: string[]): Promise<{ id: string; key: string; warning?: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['services/rtr/main.ts', 'keys', ...words, '--json'], {
    env: { ...process.env, NATS_URL: nats.url, REDIS_URL: redis.url, RTR_PREFIX: cluster.prefix },
    timeout: 15_000,
  });
  return JSON.parse(stdout) as { id: string; key: string; warning?: string };
}

async function use(url: string, key: string): Promise<Response> {
  return fetch(`${url}/api/openai/models`, { headers: { authorization: `Bearer ${key}` } });
}

/** The statuses with which all ingresses answer this key. */
async function statuses(key: string): Promise<number[]> {
  return Promise.all(urls.map(async (url) => (await use(url, key)).status));
}

describe('keys in a cluster of two ingresses', () => {
  it('refuses a key everywhere within a second after it was revoked on the command line', async () => {
    const { id, key } = await rtrKeys('create', '--name', 'leaver');
    expect(await statuses(key)).toEqual([200, 200]);
    await rtrKeys('revoke', id);
    await until(async () => (await statuses(key)).every((status) => status === 401), 1_000);
    expect(await statuses(cluster.key)).toEqual([200, 200]);
  });

  it('accepts known keys while Redis is away, answers 503 to others, and accepts those when it is back', async () => {
    const { key: unknown } = await rtrKeys('create', '--name', 'not used before');
    expect(await statuses(cluster.key)).toEqual([200, 200]);
    await redis.kill();
    for (const url of urls) {
      expect((await use(url, cluster.key)).status).toBe(200);
      const refused = await use(url, unknown);
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    }
    await redis.restart();
    await until(async () => (await statuses(unknown)).every((status) => status === 200), 10_000);
  });

  it('finds a revocation without an announcement as soon as the broker is back', async () => {
    const { id, key } = await rtrKeys('create', '--name', 'leaver in a bad moment');
    expect(await statuses(key)).toEqual([200, 200]);
    await nats.kill();
    const { warning } = await rtrKeys('revoke', id);
    expect(warning).toContain('could not be announced');
    expect(await statuses(key)).toEqual([200, 200]);
    await nats.restart();
    await until(async () => (await statuses(key)).every((status) => status === 401), 5_000);
  });

  it('writes no key into any log line', async () => {
    const wrong = mintKey('router').raw;
    const about = new Map([
      [cluster.key, 'with-a-key'],
      [wrong, 'with-a-wrong-key'],
    ]);
    for (const url of urls) {
      for (const [key, requestId] of about) {
        const headers = { authorization: `Bearer ${key}`, 'x-request-id': requestId };
        const body = JSON.stringify({ model: 'nothing', messages: [{ role: 'user', content: 'Hello.' }] });
        await (await fetch(`${url}/api/openai/chat/completions`, { method: 'POST', headers, body })).text();
      }
    }
    for (const { lines } of ingresses) {
      for (const requestId of about.values()) await until(() => lines.some((line) => line['requestId'] === requestId));
      const logged = JSON.stringify(lines);
      for (const key of about.keys()) {
        const secret = key.split(/[_.]/).at(-1) ?? '';
        expect(secret.length).toBeGreaterThan(30);
        for (const part of [secret.slice(0, 12), secret.slice(-12)]) expect(logged).not.toContain(part);
      }
    }
  });
});
