import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chat, engineState, eventsIn, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { startKeyedCluster, type KeyedCluster } from '../../helpers/clients/start-keyed-cluster.ts';
import { until } from '../../helpers/until.ts';

let keyed: KeyedCluster;

beforeAll(async () => {
  keyed = await startKeyedCluster();
});
afterAll(() => keyed?.stop());

describe('while Redis is away', () => {
  it('a request with an idempotency key is refused, and one that runs goes on for its client', async () => {
    const { cluster, redis, send } = keyed;
    const streamed = chat('tokens=60 rate=30', { stream: true });
    const key = newKey();
    // The key of the account is known by now.
    await (await send(newKey(), chat('tokens=3'))).text();
    const { started } = await engineState(cluster);
    const running = send(key, streamed).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    await redis.kill();
    const refused = await send(newKey(), chat('tokens=3'));
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toMatchObject({ error: { code: 'store_unavailable' } });
    expect((await post({ url: cluster.url, key: cluster.key, body: chat('tokens=3') })).status).toBe(200);
    const events = eventsIn(await running);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, at) => at));
    expect(events.at(-1)?.data).toBe('[DONE]');
    expect((await engineState(cluster)).started).toBe(started + 2);
    await redis.restart();
  });

  it('for the time of a restart, a request with an idempotency key waits', async () => {
    const { cluster, redis, otherUrl, send, untilServed } = keyed;
    await untilServed();
    const { started } = await engineState(cluster);
    await redis.kill();
    const key = newKey();
    const waiting = [cluster.url, otherUrl].map((url) => send(key, chat('tokens=3'), url));
    await sleep(500);
    await redis.restart();
    const answers = await Promise.all(waiting);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });

  it('for a moment, an answer is kept all the same, and nobody loses or doubles an event', async () => {
    const { cluster, redis, otherUrl, send, untilServed } = keyed;
    const key = newKey();
    const body = chat('tokens=120 rate=30', { stream: true });
    await untilServed();
    const { started } = await engineState(cluster);
    const first = send(key, body).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    const joined = send(key, body, otherUrl).then((answer) => answer.text());
    await sleep(700);
    await redis.kill();
    await sleep(300);
    await redis.restart();
    const texts = await Promise.all([first, joined]);
    expect(eventsIn(texts[1])).toEqual(eventsIn(texts[0]));
    expect(eventsIn(texts[0]).at(-1)?.data).toBe('[DONE]');
    expect(eventsIn(await (await send(key, body, otherUrl)).text())).toEqual(eventsIn(texts[0]));
    expect((await engineState(cluster)).started).toBe(started + 1);
  });

  it('for a moment, a request whose client leaves before it has its key holds nothing', async () => {
    const { cluster, redis, otherUrl, send, untilServed } = keyed;
    const key = newKey();
    await untilServed();
    const { started } = await engineState(cluster);
    await redis.pause();
    const leave = new AbortController();
    const left = post({
      url: cluster.url,
      key: cluster.key,
      body: chat('tokens=3'),
      headers: { 'idempotency-key': key },
      signal: leave.signal,
    }).catch(() => 'left');
    await sleep(300);
    leave.abort();
    expect(await left).toBe('left');
    await sleep(100);
    await redis.resume();
    const answer = await send(key, chat('tokens=3'), otherUrl);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await engineState(cluster)).started).toBe(started + 1);
    await until(async () => {
      const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
      return /^rtr_open_requests(?:\{[^}]*\})? 0$/m.test(metrics);
    });
  });

  it('for a moment, a request whose client leaves while its account is looked up holds nothing', async () => {
    const { cluster, redis, send } = keyed;
    const { url } = await cluster.addIngress({ MAX_ACTIVE: '1' });
    await until(async () => (await send(newKey(), chat('tokens=3'), url)).status === 200);
    const { raw } = await cluster.addKey({});
    const { started } = await engineState(cluster);
    const [key, leave] = [newKey(), new AbortController()];
    await redis.pause();
    const left = post({
      url,
      key: raw,
      body: chat('tokens=3'),
      headers: { 'idempotency-key': key },
      signal: leave.signal,
    }).catch(() => 'left');
    await sleep(300);
    leave.abort();
    expect(await left).toBe('left');
    await sleep(100);
    await redis.resume();
    // The only place is free, and nothing was executed.
    await until(async () => (await send(newKey(), chat('tokens=3'), url)).status === 200);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });
});
