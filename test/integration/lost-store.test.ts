import { beforeAll, expect, it } from 'vitest';
import { metricOf } from '../helpers/cluster/worker-admin.ts';
import { openKeyStore } from '../helpers/accounts/open-key-store.ts';
import { get } from '../helpers/clients/keyed-requests.ts';
import { startScriptedCluster } from '../helpers/cluster/start-scripted-cluster.ts';
import { runRtr } from '../helpers/rtr/run-rtr.ts';
import { startRedis } from '../helpers/servers/start-redis.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

let limited: string;
/** A key that no ingress has seen. */
let unused: string;

const redis = useStarted(() => startRedis());
const cluster = useStarted(() => startScriptedCluster({ redisUrl: redis.url }));
beforeAll(async () => {
  await cluster.addScripted();
  limited = (await cluster.addKey({ limits: { tokensPerDay: 1_000_000 } })).raw;
  unused = (await cluster.addKey({})).raw;
  expect([await ask(cluster.key), await ask(limited)]).toEqual([200, 200]);
});

async function ask(key: string): Promise<number> {
  const answer = await cluster.post([{ write: '{}' }], {}, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

const rtr = (...words: string[]) =>
  runRtr(cluster, words, { REDIS_URL: redis.url, NATS_URL: 'nats://127.0.0.1:9', PORT: new URL(cluster.url).port });

async function storeOf() {
  const { store } = (await (await fetch(`${cluster.url}/health`)).json()) as { store: string };
  return { health: store, metric: await metricOf(cluster.adminUrl, 'rtr_store_lost') };
}

it('serves again when the emptied store is restored', async () => {
  const { redis: store } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  const names = await store.keys('*');
  const backup = await Promise.all(names.map(async (name) => [name, await store.dumpBuffer(name)] as const));
  await redis.restart({ keepData: false });
  await until(async () => (await storeOf()).health === 'lost');
  expect(await ask(unused)).toBe(503);
  await until(() => store.status === 'ready');
  // The ingress may have written since, for example records of its ledger.
  for (const [name, bytes] of backup) if (bytes) await store.restore(name, 0, bytes, 'REPLACE');
  await until(async () => (await storeOf()).health === 'intact');
  expect([await ask(unused), await ask(limited)]).toEqual([200, 200]);
});

it('answers 503 to keys of a store that was emptied, until an operator confirms it', async () => {
  const unseen = (await cluster.addKey({})).raw;
  expect(await storeOf()).toEqual({ health: 'intact', metric: 0 });
  const { connection } = await openKeyStore(redis.url, `${cluster.prefix}:`);
  await connection.redis.flushall();
  expect(await ask(unseen)).toBe(503);
  const advice = 'restore it, or confirm it with `rtr store accept`';
  await cluster.ingress.line(`the account store was emptied or replaced: ${advice}`);
  expect([await ask(cluster.key), await ask(limited), await ask(unseen)]).toEqual([200, 503, 503]);
  expect((await fetch(`${cluster.url}/console/api/session`)).status).toBe(503);
  expect((await get(cluster, '/openai/v1/responses/resp_1')).status).toBe(503);
  expect(await storeOf()).toEqual({ health: 'lost', metric: 1 });
  expect((await rtr('doctor')).out).toMatch(/✗ store +it was emptied or replaced, and holds 0 keys, 0 people/);

  // A key in the new store does not confirm it.
  const fresh = (await cluster.addKey({})).raw;
  expect([await ask(fresh), await ask(unseen)]).toEqual([503, 503]);

  expect((await rtr('store', 'accept')).out).toContain('confirmed with 1 keys and 0 people');
  await until(async () => (await storeOf()).health === 'intact');
  expect([await ask(fresh), await ask(unseen)]).toEqual([200, 401]);
});
