import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { diagnoseStore } from '#services/rtr/commands/doctor/diagnose-store.ts';
import { createKey } from '#shared/accounts/keys/create-key.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { startRedis } from '../../../../helpers/servers/start-redis.ts';

it('rtr doctor reports a store that would evict keys when it is full, and the remedy, and one that refuses writes', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const prefix = randomUUID();
  const { store } = await openKeyStore(server.url, `${prefix}:`);
  await createKey(store, { kind: 'router', name: 'test', class: 'normal' });
  const diagnose = () => diagnoseStore({ redisUrl: server.url, redisCa: undefined, prefix, port: 1 });
  expect(await diagnose()).toMatchObject({ state: 'ok', detail: '1 keys, 0 people' });
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const detail = expect.stringMatching(/allkeys-lru.*maxmemory-policy noeviction/) as string;
  expect(await diagnose()).toMatchObject({ state: 'missing', detail });
  await redis.config('SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1');
  const refusal = expect.stringMatching(/^Redis refuses writes at .*: OOM command not allowed/) as string;
  expect(await diagnose()).toMatchObject({ state: 'missing', detail: refusal });
});
