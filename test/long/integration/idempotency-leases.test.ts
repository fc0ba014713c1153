import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chat, engineState, eventsIn, newKey, sendWithKey } from '../../helpers/clients/keyed-requests.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const redis = useStarted(() => startRedis());
const cluster = useStarted(() => startCluster({ redisUrl: redis.url }));
const other = useStarted(() => cluster.addIngress());

const send = (key: string, body: object, url = cluster.url) => sendWithKey(cluster, { key, body, url });

describe('while Redis is away for longer than the lease of an idempotency key', () => {
  it.each([
    { how: 'is killed', end: () => redis.kill(), begin: () => redis.restart() },
    { how: 'hangs', end: () => redis.pause(), begin: () => redis.resume() },
  ])('because it $how, who executes the request keeps the key', async ({ end, begin }) => {
    const key = newKey();
    const body = chat('tokens=400 rate=30', { stream: true });
    for (const url of [cluster.url, other.url])
      await until(async () => (await send(newKey(), chat('tokens=3'), url)).status === 200);
    const { started } = await engineState(cluster);
    const first = send(key, body).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    await end();
    await sleep(7_000);
    await begin();
    let again: Response | undefined;
    await until(async () => (again = await send(key, body, other.url)).status !== 503);
    expect([again?.status, again?.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(eventsIn((await again?.text()) ?? '')).toEqual(eventsIn(await first));
    expect((await engineState(cluster)).started).toBe(started + 1);
  });
});
