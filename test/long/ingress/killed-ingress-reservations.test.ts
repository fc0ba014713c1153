import { expect, inject, it } from 'vitest';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { chat, post } from '../../helpers/clients/keyed-requests.ts';
import { shareCluster } from '../../helpers/cluster/share-cluster.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { until } from '../../helpers/until.ts';

it('reservations of an ingress that is killed in the middle are free after a minute, and no earlier', async () => {
  const cluster = stopAfterTest(await shareCluster());
  const limits = { concurrentRequests: 8, tokensPerDay: 1_000_000 };
  const { process, url } = await cluster.addIngress();
  const { raw, id } = await cluster.addKey({ limits });
  const { redis } = await openKeyStore(inject('redisUrl'));
  const keeper = stopAfterTest(new LimitKeeper(redis, `${cluster.prefix}:`, silentLog));
  const use = async () => (await keeper.read([{ party: `key:${id}` as const, limits }]))[0];
  const name = `${cluster.prefix}:limit:reservations`;
  const reservations = () => redis.zrange(name, '0', '-1');
  /** Milliseconds until each reservation expires. */
  const lasting = async (): Promise<number[]> =>
    (await redis.zmscore(name, ...(await reservations()))).map((at) => Number(at) - Date.now());

  const body = chat('tokens=9000 rate=20', { stream: true, max_tokens: 9_000 });
  // Kept, or their connections would be closed when the garbage is collected.
  const answers: Response[] = [];
  for (let count = 0; count < 8; count++) answers.push(await post({ url, key: raw, body }));
  await until(async () => (await use())?.active === 8);
  // They are renewed every twenty seconds: after that they outlast the minute in which they were made.
  await until(async () => expect(Math.min(...(await lasting()))).toBeLessThan(45_000));
  await until(async () => expect(Math.min(...(await lasting()))).toBeGreaterThan(55_000));
  await process.kill();
  expect((await use())?.active).toBe(8);
  const left = await lasting();
  expect(left).toHaveLength(8);
  expect(Math.max(...left)).toBeLessThanOrEqual(60_000);
  expect(Math.min(...left)).toBeGreaterThan(38_000);
  // The minute is over.
  await redis.zadd(name, 'XX', ...(await reservations()).flatMap((each) => ['1', each]));
  expect((await use())?.active).toBe(0);
  expect((await use())?.day).toEqual({ spent: { tokens: 0, cost: 0 }, reserved: { tokens: 0, cost: 0 } });
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
});
