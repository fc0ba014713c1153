import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readAllValues } from '../../helpers/accounts/read-all-values.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { chat, engineState, eventsIn, idsOf, newKey, post } from '../../helpers/clients/keyed-requests.ts';
import { readEvents, sendWithKey, upTo, type RepeatedPost } from '../../helpers/clients/keyed-requests.ts';
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
  // A quarter of the room of an owner is for these answers, and a quarter of that for one of them; a sixth of the room of all.
  const settings = { IDEMPOTENCY_GRACE_MS: '6000', STORED_OWNER_BYTES: '640000' };
  [{ url: otherUrl }, ofOwner, ofAll] = await Promise.all([
    cluster.otherIngress(),
    cluster.addIngress(settings),
    cluster.addIngress({ ...settings, STORED_MAX_BYTES: '300000' }),
  ]);
});

const send = (asked: RepeatedPost) => sendWithKey(cluster, asked);
const openStore = () => openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);

/** Sends a request with an idempotency key for another owner. */
const postAs = (key: string, idempotencyKey: string, { body, url = cluster.url }: { body: object; url?: string }) =>
  post({ url, key, body, headers: { 'idempotency-key': idempotencyKey } });

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
    for (const stream of [true, false]) expect(await least(() => cancel(stream), 1_500)).toBeLessThan(1_500);
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
    const seen = readEvents(joined, 150, leave);
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
    expect(performance.now() - goneAt).toBeGreaterThan(5_000);
    await until(async () => (await readUsage(cluster.prefix, cluster.keyId))[0]?.outcome === 'cancelled');
  });
});

describe('the stored answer to an idempotency key', () => {
  it('is sealed: neither the request nor the answer nor the key is readable in Redis', async () => {
    const { redis } = await openStore();
    const key = 'a-key-with-a-name';
    const secret = 'zanzibar-und-timbuktu';
    const said = `Hello.\n[demo say "The word is ${secret}."]`;
    const body = { model: 'demo', messages: [{ role: 'user', content: said }] };
    const { raw, id } = await cluster.addKey({});
    expect(await (await postAs(raw, key, { body })).text()).toContain(secret);
    await until(async () => (await redis.zcard(`${cluster.prefix}:idempotent-ended-of:${id}`)) === 1);
    const names = await redis.keys(`${cluster.prefix}:idempotent-events:${id}:*`);
    expect(names.length).toBeGreaterThan(0);
    // The search would find an unsealed text.
    await redis.xadd(`${cluster.prefix}:control`, '*', 'e', 'unsealed-and-found');
    const texts = await readAllValues(redis, `${cluster.prefix}:`);
    await redis.del(`${cluster.prefix}:control`);
    expect(texts).toContain('unsealed-and-found');
    for (const word of [secret, 'zanzibar', key, Buffer.from(secret).toString('base64').slice(0, -4)])
      expect(texts).not.toContain(word);
    expect(texts).toContain('idempotent-answer');
  });

  it('stays for ten minutes, and then the request is executed again', async () => {
    const { redis } = await openStore();
    const { raw, id } = await cluster.addKey({});
    const key = newKey();
    const ask = () => postAs(raw, key, { body: chat('tokens=3') });
    await (await ask()).text();
    const namesOf = () => redis.keys(`${cluster.prefix}:idempotent-*:${id}:*`);
    await until(async () => (await namesOf()).length === 2);
    await until(async () => (await ask()).headers.get('idempotent-replayed') === 'true');
    for (const name of await namesOf()) {
      const left = await redis.pttl(name);
      expect(left).toBeGreaterThan(580_000);
      expect(left).toBeLessThanOrEqual(600_000);
      await redis.pexpire(name, 1);
    }
    await until(async () => (await namesOf()).length === 0);
    const { started } = await engineState(cluster);
    const again = await ask();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await engineState(cluster)).started).toBe(started + 1);
  });

  it('is removed with its owner', async () => {
    const { store, redis } = await openStore();
    const { raw, id } = await cluster.addKey({});
    await (await postAs(raw, newKey(), { body: chat('tokens=3') })).text();
    const names = () => redis.keys(`${cluster.prefix}:idempotent-*:${id}*`);
    await until(async () => (await names()).length >= 3);
    await store.revoke(id, Date.now());
    expect(await names()).toEqual([]);
    expect(await redis.zscore(`${cluster.prefix}:idempotent-bytes`, id)).toBeNull();
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
    const { redis } = await openStore();
    const [one, other] = [await cluster.addKey({}), await cluster.addKey({})];
    const body = chat('tokens=5000');
    const keys = Array.from({ length: 6 }, newKey);
    const ask = (key: string, raw = one.raw) => postAs(raw, key, { url, body });
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
    const bytes = Number(await redis.zscore(`${cluster.prefix}:idempotent-bytes`, one.id));
    expect(bytes).toBeLessThanOrEqual(160_000);
    expect(bytes).toBeGreaterThan(60_000);
    const statuses = await Promise.all(keys.map(async (key) => (await ask(key)).status));
    expect(statuses[0]).toBe(409);
    expect(statuses.at(-1)).toBe(200);
    expect(await (await ask(others, other.raw)).text()).toBe(kept);
    // The bound of all owners.
    const third = await cluster.addKey({});
    const key = newKey();
    await (await postAs(third.raw, key, { url: ofAll.url, body })).text();
    await until(async () => Number(await redis.get(`${cluster.prefix}:idempotent-total`)) <= 50_000);
    const again = await postAs(third.raw, key, { url: ofAll.url, body });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });
});

describe('when the ingress that executes a request with an idempotency key is killed', () => {
  it('its key is free within seconds: who waits for the answer gets one, who has seen a part is told', async () => {
    const nodes = [ofAll];
    const free = async (): Promise<number> => {
      const { process, url } = nodes.pop() ?? (await cluster.addIngress());
      const asked = { key: newKey(), body: chat('tokens=80 rate=20') };
      const streamed = { key: newKey(), body: chat('tokens=600 rate=20', { stream: true }) };
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
    // The new answer alone takes four.
    expect(await least(free, 14_000, 2)).toBeLessThan(14_000);
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
