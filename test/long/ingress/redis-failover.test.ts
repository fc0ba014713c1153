import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { askChat } from '../../helpers/console/ask-chat.ts';
import { until } from '../../helpers/until.ts';
import { startRedisPair } from '../../helpers/servers/start-redis-pair.ts';
import { useStarted } from '../../helpers/use-started.ts';

const limits = { tokensPerDay: 100_000 };

/** A cluster that knows only the sentinels of its Redis. */
const redis = useStarted(() => startRedisPair());
const cluster = useStarted(() => startCluster({ redisUrl: redis.url, key: { limits } }));

const ask = (key: string) => askChat({ url: cluster.url, key }, 'Hello.', { max_tokens: 20 });

/** Tokens that a key has used today, as Redis counts them. */
async function usedOf(redis: Redis, id: string): Promise<number> {
  const names = await redis.keys(`${cluster.prefix}:limit:key:${id}:*`);
  const values = await Promise.all(names.map((name) => redis.hgetall(name)));
  return values.flatMap((one) => Object.entries(one)).reduce((sum, [, value]) => sum + (Number(value) || 0), 0);
}

describe('an ingress whose Redis is watched by sentinels', () => {
  it('goes on with the new primary: keys verified, budgets as they were', async () => {
    const { connection, store } = await openKeyStore(redis.url, `${cluster.prefix}:`);
    const { rawKey: raw, record } = await createKey(store, { kind: 'router', name: 'second', class: 'normal', limits });
    for (let count = 0; count < 3; count += 1) expect((await ask(raw)).status).toBe(200);
    await until(async () => (await usedOf(connection.redis, record.id)) > 0);
    const before = await usedOf(connection.redis, record.id);
    expect(await connection.redis.wait(1, 20_000)).toBe(1);
    await redis.primary.kill();
    // A key that the ingress has verified before is good all the time.
    expect((await ask(raw)).status).not.toBe(401);
    await until(async () => (await connection.ready()) && (await ask(raw)).status === 200);
    expect(connection.redis.stream).toMatchObject({ remotePort: redis.replica.port });
    // One that was made before the failover and never used is found on the new primary, and so is one that is new.
    expect((await ask(cluster.key)).status).toBe(200);
    const { rawKey: fresh } = await createKey(store, { kind: 'router', name: 'fresh', class: 'normal', limits });
    expect((await ask(fresh)).status).toBe(200);
    expect((await ask(`${fresh}x`)).status).toBe(401);
    await until(async () => (await usedOf(connection.redis, record.id)) > before);
    await cluster.ingress.line('redis is back');
  });
});
