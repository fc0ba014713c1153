import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../../helpers/accounts/read-all-values.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import {
  chat,
  engineState,
  eventsIn,
  idsOf,
  newKey,
  post,
  readEvents,
  sendWithKey,
  upTo,
  type RepeatedPost,
} from '../../helpers/clients/keyed-requests.ts';
import { type SharedCluster, useCluster } from '../../helpers/cluster/share-cluster.ts';
import { least } from '../../helpers/least.ts';
import { until } from '../../helpers/until.ts';

let otherUrl: string;
/** Ingress nodes with a grace time, and with little room for answers: of each owner, or of all owners. The last tests stop them. */
let ofOwner: Node;
let ofAll: Node;

type Node = Awaited<ReturnType<SharedCluster['addIngress']>>;

const cluster = useCluster();
beforeAll(async () => {
  const settings = { IDEMPOTENCY_GRACE_MS: '2500', IDEMPOTENCY_ANSWER_BYTES: '40000' };
  [{ url: otherUrl }, ofOwner, ofAll] = await Promise.all([
    cluster.otherIngress(),
    cluster.addIngress({ ...settings, IDEMPOTENCY_OWNER_BYTES: '60000', IDEMPOTENCY_KEYS: '40' }),
    cluster.addIngress({ ...settings, IDEMPOTENCY_MAX_BYTES: '50000' }),
  ]);
});

const send = (asked: RepeatedPost) => sendWithKey(cluster, asked);

describe('when the client of a request with an idempotency key has left', () => {
  it('the request is cancelled at once, and the next one with the key is executed', async () => {
    const cancel = async (stream: boolean): Promise<number> => {
      const asked = { key: newKey(), body: chat('tokens=3000 rate=30', { stream }) };
      const before = await engineState(cluster);
      const cut = new AbortController();
      const sent = send({ ...asked, signal: cut.signal });
      if (stream) await readEvents(await sent, 3, cut);
      else {
        sent.catch(() => undefined);
        await until(async () => (await engineState(cluster)).started === before.started + 1);
        cut.abort();
      }
      const cutAt = performance.now();
      await until(async () => (await engineState(cluster)).aborted === before.aborted + 1);
      const cancelledAfterMs = performance.now() - cutAt;
      const again = new AbortController();
      const answer = send({ ...asked, url: otherUrl, signal: again.signal });
      answer.catch(() => undefined);
      await until(async () => (await engineState(cluster)).started === before.started + 2);
      again.abort();
      await until(async () => (await engineState(cluster)).active === 0);
      return cancelledAfterMs;
    };
    for (const stream of [true, false]) expect(await least(() => cancel(stream), 1_500, 3)).toBeLessThan(1_500);
  });

  it('the request continues for a client that joined, at another ingress too, and is cancelled when it leaves', async () => {
    for (const url of [cluster.url, otherUrl]) {
      const asked = { key: newKey(), body: chat('tokens=90 rate=30', { stream: true }) };
      const before = await engineState(cluster);
      const [cut, leave] = [new AbortController(), new AbortController()];
      const first = readEvents(await send({ ...asked, signal: cut.signal }), 10, cut);
      const joined = send({ ...asked, url }).then((answer) => answer.text());
      const left = send({ ...asked, url: otherUrl, signal: leave.signal }).then((answer) =>
        readEvents(answer, 12, leave),
      );
      await Promise.all([first, left]);
      const events = eventsIn(await joined);
      expect(idsOf(events)).toEqual(upTo(events.length));
      expect(events.at(-1)?.data).toBe('[DONE]');
      const after = await engineState(cluster);
      expect([after.started, after.aborted]).toEqual([before.started + 1, before.aborted]);
    }
    const asked = { key: newKey(), body: chat('tokens=3000 rate=30', { stream: true }) };
    const { aborted } = await engineState(cluster);
    const [cut, leave] = [new AbortController(), new AbortController()];
    const first = await send({ ...asked, signal: cut.signal });
    const joined = await send({ ...asked, url: otherUrl, signal: leave.signal });
    const seen = readEvents(joined, 60, leave);
    await readEvents(first, 3, cut);
    await sleep(1_000);
    expect((await engineState(cluster)).aborted).toBe(aborted);
    await seen;
    await until(async () => (await engineState(cluster)).aborted === aborted + 1);
  });

  it('the request continues for the grace time: a client that joins gets the whole answer, and without one it is cancelled', async () => {
    const { url } = ofOwner;
    const asked = { key: newKey(), body: chat('tokens=100 rate=30', { stream: true }), url };
    const before = await engineState(cluster);
    const cut = new AbortController();
    const seen = await readEvents(await send({ ...asked, signal: cut.signal }), 5, cut);
    await sleep(1_000);
    const rest = eventsIn(await (await send({ ...asked, url: otherUrl, after: 4 })).text());
    const all = [...seen, ...rest];
    expect(idsOf(all)).toEqual(upTo(all.length));
    expect(all.at(-1)?.data).toBe('[DONE]');
    expect((await engineState(cluster)).started).toBe(before.started + 1);

    const alone = { ...asked, key: newKey(), body: chat('tokens=3000 rate=30', { stream: true }) };
    const gone = new AbortController();
    await readEvents(await send({ ...alone, signal: gone.signal }), 5, gone);
    const goneAt = performance.now();
    await until(async () => (await engineState(cluster)).aborted === before.aborted + 1);
    expect(performance.now() - goneAt).toBeGreaterThan(2_000);
    await until(async () => (await readUsage(cluster.prefix, cluster.keyId))[0]?.outcome === 'cancelled');
  });
});

describe('the stored answer to an idempotency key', () => {
  it('is sealed: neither the request nor the answer nor the key is readable in Redis', async () => {
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const key = 'a-key-with-a-name';
    const secret = 'zanzibar-und-timbuktu';
    const said = `Hello.\n[demo say "The word is ${secret}."]`;
    const body = { model: 'demo', messages: [{ role: 'user', content: said }] };
    const { raw, id } = await cluster.addKey({});
    expect(
      await (await post({ url: cluster.url, key: raw, body, headers: { 'idempotency-key': key } })).text(),
    ).toContain(secret);
    await until(async () => (await connection.redis.zcard(`${cluster.prefix}:idempotent-ended-of:${id}`)) === 1);
    const names = await connection.redis.keys(`${cluster.prefix}:idempotent-events:${id}:*`);
    expect(names.length).toBeGreaterThan(0);
    // The search would find an unsealed text.
    await connection.redis.xadd(`${cluster.prefix}:control`, '*', 'e', 'unsealed-and-found');
    const texts = await readAllValues(connection.redis, `${cluster.prefix}:`);
    await connection.redis.del(`${cluster.prefix}:control`);
    expect(texts).toContain('unsealed-and-found');
    for (const word of [secret, 'zanzibar', key, Buffer.from(secret).toString('base64').slice(0, -4)])
      expect(texts).not.toContain(word);
    expect(texts).toContain('idempotent-answer');
  });

  it('stays for ten minutes, and then the request is executed again', async () => {
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const { raw, id } = await cluster.addKey({});
    const asked = { url: cluster.url, key: raw, body: chat('tokens=3'), headers: { 'idempotency-key': newKey() } };
    await (await post(asked)).text();
    const namesOf = () => connection.redis.keys(`${cluster.prefix}:idempotent-*:${id}:*`);
    await until(async () => (await namesOf()).length === 2);
    await until(async () => (await post(asked)).headers.get('idempotent-replayed') === 'true');
    for (const name of await namesOf()) {
      const left = await connection.redis.pttl(name);
      expect(left).toBeGreaterThan(590_000);
      expect(left).toBeLessThanOrEqual(600_000);
      await connection.redis.pexpire(name, 1);
    }
    await until(async () => (await namesOf()).length === 0);
    const { started } = await engineState(cluster);
    const again = await post(asked);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });

  it('is removed with its owner', async () => {
    const { store, connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const { raw, id } = await cluster.addKey({});
    await (
      await post({ url: cluster.url, key: raw, body: chat('tokens=3'), headers: { 'idempotency-key': newKey() } })
    ).text();
    const names = () => connection.redis.keys(`${cluster.prefix}:idempotent-*:${id}*`);
    await until(async () => (await names()).length >= 3);
    await store.revoke(id, Date.now());
    expect(await names()).toEqual([]);
    expect(await connection.redis.zscore(`${cluster.prefix}:idempotent-bytes`, id)).toBeNull();
  });

  it('is bounded per answer: a longer one is not kept, and a duplicate gets an error', async () => {
    const { url } = ofOwner;
    for (const [stream, tokens] of [
      [true, 600],
      [false, 14_000],
    ] as const) {
      const asked = { key: newKey(), body: chat(`tokens=${tokens}`, { stream }), url };
      const { started } = await engineState(cluster);
      const text = await (await send(asked)).text();
      expect(text.length).toBeGreaterThan(45_000);
      if (stream) expect(idsOf(eventsIn(text))).toEqual(upTo(eventsIn(text).length));
      // A client that comes before Redis has recorded the loss gets the beginning, and then the error.
      await until(async () => {
        const again = await send(asked);
        await again.text();
        return again.status === 409;
      });
      for (const ingress of [url, otherUrl]) {
        const again = await send({ ...asked, url: ingress });
        expect(again.status).toBe(409);
        expect(await again.json()).toMatchObject({ error: { code: 'answer_not_kept' } });
      }
      expect((await engineState(cluster)).started).toBe(started + 1);
    }
    // While the request runs.
    const asked = { key: newKey(), body: chat('tokens=1000 rate=400', { stream: true }), url };
    const { started } = await engineState(cluster);
    const first = send(asked).then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    const joined = await (await send({ ...asked, url: otherUrl })).text();
    expect(joined).toContain('answer_not_kept');
    expect(eventsIn(await first).at(-1)?.data).toBe('[DONE]');
  });

  it('is bounded per owner and in total: the oldest answers go, and are not executed again', async () => {
    const { url } = ofOwner;
    const { connection } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const [one, other] = [await cluster.addKey({}), await cluster.addKey({})];
    const body = chat('tokens=3500');
    const keys = [newKey(), newKey(), newKey(), newKey()];
    const ask = (key: string, raw = one.raw) => post({ url, key: raw, body, headers: { 'idempotency-key': key } });
    const replayed = async (key: string): Promise<string | null> => {
      const again = await ask(key);
      await again.text();
      return again.headers.get('idempotent-replayed');
    };
    const others = newKey();
    const kept = await (await ask(others, other.raw)).text();
    for (const key of keys) {
      await (await ask(key)).text();
      await until(async () => (await replayed(key)) === 'true');
    }
    const bytes = Number(await connection.redis.zscore(`${cluster.prefix}:idempotent-bytes`, one.id));
    expect(bytes).toBeLessThanOrEqual(60_000);
    expect(bytes).toBeGreaterThan(20_000);
    const statuses = await Promise.all(keys.map(async (key) => (await ask(key)).status));
    expect(statuses[0]).toBe(409);
    expect(statuses.at(-1)).toBe(200);
    expect(await (await ask(others, other.raw)).text()).toBe(kept);
    // The bound of all owners.
    const third = await cluster.addKey({});
    const key = newKey();
    await (await post({ url: ofAll.url, key: third.raw, body, headers: { 'idempotency-key': key } })).text();
    await until(async () => Number(await connection.redis.get(`${cluster.prefix}:idempotent-total`)) <= 50_000);
    const again = await post({ url: ofAll.url, key: third.raw, body, headers: { 'idempotency-key': key } });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });

  it('is bounded in the number of keys per owner', async () => {
    const { url } = ofOwner;
    const [one, other] = [await cluster.addKey({}), await cluster.addKey({})];
    const ask = async (raw: string) =>
      (await post({ url, key: raw, body: chat('tokens=1'), headers: { 'idempotency-key': newKey() } })).status;
    const statuses = await Promise.all(Array.from({ length: 40 }, () => ask(one.raw)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await ask(one.raw)).toBe(429);
    expect(await ask(other.raw)).toBe(200);
  });
});

describe('when the ingress that executes a request with an idempotency key is killed', () => {
  it('its key is free within seconds: who waits for the answer gets one, who has seen a part is told', async () => {
    const nodes = [ofAll];
    const free = async (): Promise<number> => {
      const { process, url } = nodes.pop() ?? (await cluster.addIngress());
      const asked = { key: newKey(), body: chat('tokens=60 rate=30') };
      const streamed = { key: newKey(), body: chat('tokens=600 rate=30', { stream: true }) };
      const { started } = await engineState(cluster);
      const lost = [send({ ...asked, url }), send({ ...streamed, url })].map((answer) =>
        answer.then((sent) => sent.text()).catch(() => 'lost'),
      );
      await until(async () => (await engineState(cluster)).started === started + 2);
      const waiting = send({ ...asked, url: otherUrl });
      const following = await send({ ...streamed, url: otherUrl });
      await sleep(500);
      await process.kill();
      const killedAt = performance.now();
      expect(await Promise.all(lost)).toEqual(['lost', 'lost']);
      const text = await following.text();
      const events = eventsIn(text).filter(({ id }) => id !== undefined);
      expect(events.length).toBeGreaterThan(3);
      expect(text).toContain('worker_lost');
      expect((await send({ ...streamed, url: otherUrl, after: Number(events.at(-1)?.id) })).status).toBe(409);
      const answer = await waiting;
      expect(answer.status).toBe(200);
      const freeAfterMs = performance.now() - killedAt;
      const replay = await send({ ...asked });
      const replayed = { replayed: replay.headers.get('idempotent-replayed'), text: await replay.text() };
      expect(replayed).toEqual({ replayed: 'true', text: await answer.text() });
      return freeAfterMs;
    };
    expect(await least(free, 12_000, 2)).toBeLessThan(12_000);
  });
});

describe('when the ingress that executes a request with an idempotency key is stopped', () => {
  it('it serves the answer to its end, for its client and for those elsewhere, and the ledger has it', async () => {
    const { process, url } = ofOwner;
    const asked = { key: newKey(), body: chat('tokens=60 rate=30', { stream: true }) };
    const { started } = await engineState(cluster);
    const sent = send({ ...asked, url });
    const first = sent.then((answer) => answer.text());
    await until(async () => (await engineState(cluster)).started === started + 1);
    const second = send({ ...asked, url: otherUrl }).then((answer) => answer.text());
    await sleep(300);
    const stopped = process.stop();
    const texts = await Promise.all([first, second]);
    await stopped;
    const id = (await sent).headers.get('x-request-id');
    const recorded = (await readUsage(cluster.prefix, cluster.keyId)).find((record) => record.id === id);
    expect(recorded).toMatchObject({ outcome: 'done', completionTokens: 60 });
    expect(texts[0]).toContain('[DONE]');
    expect(texts[1]).toBe(texts[0]);
    expect(await (await send(asked)).text()).toBe(texts[0]);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });
});
