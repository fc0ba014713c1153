import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';
import { startRedisProgram, type RedisProgram } from '../../helpers/servers/start-redis-program.ts';

const limits = { tokensPerDay: 100_000 };

let folder: string;
let primary: RedisProgram;
let replica: RedisProgram;
let sentinels: RedisProgram[];
let url: string;
let cluster: Cluster;

/** A primary and a replica that three sentinels watch, and a cluster that knows the sentinels only. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rtr-test-sentinel-'));
  const secret = ['--requirepass', 'pw', '--masterauth', 'pw', '--save', ''];
  primary = await startRedisProgram(folder, (port) => ['--port', String(port), ...secret]);
  const of = ['--replicaof', `127.0.0.1 ${primary.port}`];
  replica = await startRedisProgram(folder, (port) => ['--port', String(port), ...secret, ...of]);
  sentinels = [];
  for (let count = 0; count < 3; count += 1) {
    const sentinel = await startRedisProgram(
      folder,
      () => [],
      (port) => [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        'requirepass sp',
        'sentinel sentinel-pass sp',
        `sentinel monitor rtr 127.0.0.1 ${primary.port} 2`,
        'sentinel auth-pass rtr pw',
        'sentinel down-after-milliseconds rtr 1000',
        'sentinel failover-timeout rtr 5000',
      ],
    );
    sentinels.push(sentinel);
  }
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  url = `redis+sentinel://:pw@${hosts}/rtr?sentinel-password=sp`;
  await until(replicaFollows, 20_000);
  await until(sentinelsAgree, 20_000);
  cluster = await startCluster({ redisUrl: url, key: { limits } });
}, 60_000);

afterAll(async () => {
  await cluster.stop();
  for (const server of [...sentinels, replica, primary]) await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether the replica has all that the primary has. A primary lets new replicas wait for some seconds before it sends it. */
async function replicaFollows(): Promise<boolean> {
  const redis = new Redis({ port: replica.port, password: 'pw', lazyConnect: true });
  await redis.connect();
  const facts = await redis.info('replication');
  redis.disconnect();
  return facts.includes('master_link_status:up');
}

/** Whether every sentinel knows the replica and the other two. */
async function sentinelsAgree(): Promise<boolean> {
  const seen = await Promise.all(
    sentinels.map(async ({ port }) => {
      const sentinel = new Redis({ port, password: 'sp', lazyConnect: true });
      await sentinel.connect();
      const facts = (await sentinel.call('SENTINEL', 'MASTER', 'rtr')) as string[];
      sentinel.disconnect();
      const fact = (name: string): string | undefined => facts[facts.indexOf(name) + 1];
      return fact('num-slaves') === '1' && fact('num-other-sentinels') === '2';
    }),
  );
  return seen.every(Boolean);
}

function ask(key: string): Promise<Response> {
  return fetch(`${cluster.url}/api/openai/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'demo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello.' }] }),
  });
}

/** Tokens that a key has used today, as Redis counts them. */
async function usedOf(redis: Redis, id: string): Promise<number> {
  const names = await redis.keys(`${cluster.prefix}:limit:key:${id}:*`);
  const values = await Promise.all(names.map((name) => redis.hgetall(name)));
  return values.flatMap((one) => Object.entries(one)).reduce((sum, [, value]) => sum + (Number(value) || 0), 0);
}

describe('an ingress whose Redis is watched by sentinels', () => {
  it('goes on with the new primary: keys verified, budgets as they were', { timeout: 60_000 }, async () => {
    const { connection, store } = await openKeyStore(url, `${cluster.prefix}:`);
    const { raw, record } = await createKey(store, { kind: 'router', name: 'second', class: 'normal', limits });
    for (let count = 0; count < 3; count += 1) expect((await ask(raw)).status).toBe(200);
    await until(async () => (await usedOf(connection.redis, record.id)) > 0);
    const before = await usedOf(connection.redis, record.id);
    expect(await connection.redis.wait(1, 2_000)).toBe(1);
    await primary.kill();
    // A key that the ingress has verified before is good all the time.
    expect((await ask(raw)).status).not.toBe(401);
    await until(async () => (await connection.ready()) && (await ask(raw)).status === 200, 20_000);
    expect(connection.redis.stream).toMatchObject({ remotePort: replica.port });
    // One that was made before the failover and never used is found on the new primary, and so is one that is new.
    expect((await ask(cluster.key)).status).toBe(200);
    const { raw: fresh } = await createKey(store, { kind: 'router', name: 'fresh', class: 'normal', limits });
    expect((await ask(fresh)).status).toBe(200);
    expect((await ask(`${fresh}x`)).status).toBe(401);
    await until(async () => (await usedOf(connection.redis, record.id)) > before);
    expect(cluster.ingress.lines.some(({ msg }) => msg === 'redis is back')).toBe(true);
  });
});
