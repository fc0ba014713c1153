import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chat, engineState, eventsIn, newKey } from '../../helpers/clients/keyed-requests.ts';
import { startKeyedCluster, type KeyedCluster } from '../../helpers/clients/start-keyed-cluster.ts';
import { until } from '../../helpers/until.ts';

let keyed: KeyedCluster;

beforeAll(async () => {
  keyed = await startKeyedCluster();
});
afterAll(() => keyed?.stop());

describe('while Redis is away for longer than the lease of an idempotency key', () => {
  it.each([
    { how: 'is killed', end: () => keyed.redis.kill(), begin: () => keyed.redis.restart() },
    { how: 'hangs', end: () => keyed.redis.pause(), begin: () => keyed.redis.resume() },
  ])('because it $how, who executes the request keeps the key', async ({ end, begin }) => {
    const { cluster, otherUrl, send, untilServed } = keyed;
    const key = newKey();
    const body = chat('tokens=400 rate=30', { stream: true });
    await untilServed();
    const { started } = await engineState(cluster);
    const first = send(key, body).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    await end();
    await sleep(7_000);
    await begin();
    let again: Response | undefined;
    await until(async () => (again = await send(key, body, otherUrl)).status !== 503);
    expect([again?.status, again?.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(eventsIn((await again?.text()) ?? '')).toEqual(eventsIn(await first));
    expect((await engineState(cluster)).started).toBe(started + 1);
  });
});
