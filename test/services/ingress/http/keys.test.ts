import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import { mintKey } from '#shared/accounts/keys/mint-key.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { announceKeyChange } from '#shared/broker/contract/change-signals.ts';
import { createLog } from '#shared/core/log.ts';
import { startScriptedCluster, type ScriptedCluster } from '../../../helpers/cluster/start-scripted-cluster.ts';
import { least } from '../../../helpers/least.ts';
import { until } from '../../../helpers/until.ts';
import { startRedis } from '../../../helpers/servers/start-redis.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });

async function start(options: Parameters<typeof startScriptedCluster>[0] = {}): Promise<ScriptedCluster> {
  const cluster = await startScriptedCluster(options);
  onTestFinished(() => cluster.stop());
  return cluster;
}

async function openStore(cluster: ScriptedCluster, redisUrl = inject('redisUrl')): Promise<KeyStore> {
  const connection = connectRedis(redisUrl, { log, name: 'test' });
  onTestFinished(() => connection.close());
  await connection.whenReady(AbortSignal.timeout(5_000));
  return new KeyStore(connection.redis, `${cluster.prefix}:`);
}

/** Requests the models with a key. Returns the status. */
async function status(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/openai/models`, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

describe('a key', () => {
  it('is required on every path except /health; a wrong one and a missing one get different errors', async () => {
    const cluster = await start();
    const ask = async (path: string, authorization?: string) => {
      const answer = await fetch(cluster.url + path, { headers: authorization === undefined ? {} : { authorization } });
      return { status: answer.status, body: (await answer.json()) as { error?: object } };
    };
    const missing = { type: 'invalid_request_error', code: null, param: null };
    const invalid = { type: 'invalid_request_error', code: 'invalid_api_key', param: null };
    for (const path of ['/api/openai/models', '/api/openai/v1/chat/completions', '/api/openai/nothing']) {
      for (const none of [undefined, '', 'Bearer', 'Bearer ', `Basic ${cluster.key}`, cluster.key]) {
        expect(await ask(path, none)).toMatchObject({ status: 401, body: { error: missing } });
      }
      for (const wrong of ['sk-1234', `${cluster.key}x`, cluster.key.slice(0, -1), mintKey('router').raw]) {
        expect(await ask(path, `Bearer ${wrong}`)).toMatchObject({ status: 401, body: { error: invalid } });
      }
    }
    expect((await ask('/health')).status).toBe(200);
    expect((await ask('/api/openai/health')).status).toBe(200);
    expect(await ask('/api/openai/models', `bearer ${cluster.key}`)).toMatchObject({ status: 200 });
  });

  it('that is wrong is named by the header that it came in', async () => {
    const cluster = await start();
    const ask = async (headers: Record<string, string>, path = '/v1/models'): Promise<unknown> =>
      (await fetch(`${cluster.url}/api/anthropic${path}`, { headers })).json();
    const error = (message: string) => ({ type: 'error', error: { type: 'authentication_error', message } });
    expect(await ask({ authorization: 'Bearer sk-1234' })).toMatchObject(error('Invalid bearer token'));
    expect(await ask({ 'x-api-key': 'sk-1234' })).toMatchObject(error('invalid x-api-key'));
    expect(await ask({ 'x-api-key': cluster.key }, '/v1/nothing')).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: 'There is no GET /api/anthropic/v1/nothing here.' },
    });
  });

  it('that is revoked is refused by every ingress within a second', async () => {
    const cluster = await start();
    const other = await cluster.addIngress();
    const urls = [cluster.url, other.url];
    const store = await openStore(cluster);
    const broker = await connectBroker({ url: inject('natsUrl'), name: 'test', prefix: cluster.prefix, log });
    onTestFinished(() => broker.nc.close());
    const know = async (): Promise<number> => {
      const { raw, id } = await cluster.addKey({});
      const statuses = () => Promise.all(urls.map((url) => status(url, raw)));
      expect(await statuses()).toEqual([200, 200]);
      await store.revoke(id, Date.now());
      await announceKeyChange(broker, id);
      const announcedAt = performance.now();
      await until(async () => (await statuses()).every((code) => code === 401));
      return performance.now() - announcedAt;
    };
    expect(await least(know, 1_000, 3)).toBeLessThan(1_000);
  });

  it('that is known works while Redis is away; one that is not gets 503, and works when Redis is back', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const cluster = await start({ redisUrl: redis.url, ingress: { STORE_WAIT_MS: '0' } });
    const unknown = await createKey(await openStore(cluster, redis.url), {
      kind: 'router',
      name: 'b',
      class: 'normal',
    });
    expect(await status(cluster.url, cluster.key)).toBe(200);
    await redis.kill();
    for (let round = 0; round < 5; round += 1) expect(await status(cluster.url, cluster.key)).toBe(200);
    const before = performance.now();
    const answer = await fetch(`${cluster.url}/api/openai/models`, {
      headers: { authorization: `Bearer ${unknown.raw}` },
    });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { type: 'server_error', code: 'store_unavailable' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(performance.now() - before).toBeLessThan(2_500);
    const health = (await (await fetch(`${cluster.url}/health`)).json()) as object;
    expect(health).toMatchObject({ status: 'degraded', redis: false, nats: true });
    await redis.restart();
    await until(async () => (await status(cluster.url, unknown.raw)) === 200, 10_000);
    expect(await status(cluster.url, cluster.key)).toBe(200);
  });
});
