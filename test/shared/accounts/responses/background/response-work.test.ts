import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { BackgroundBounds } from '#shared/accounts/responses/background/background-settings.ts';
import { backgroundJournal } from '#shared/accounts/responses/background/background-responses.ts';
import { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import type { ResponseEnd } from '#shared/accounts/responses/background/response-work.ts';
import { StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { openBackgroundResponses } from '../../../../helpers/accounts/open-background-responses.ts';
import { admin, openLedger } from '../../../../helpers/accounts/open-ledger.ts';
import { readAllValues } from '../../../../helpers/accounts/read-all-values.ts';
import { until } from '../../../../helpers/until.ts';

const hourMs = 3_600_000;
const megabyte = 1024 * 1024;

async function open(change: Partial<BackgroundBounds> = {}) {
  const opened = await openBackgroundResponses(change);
  const { redis, prefix, keys, report, responses, work } = opened;
  const { ledger, reader: usage } = await openLedger({}, opened);
  const storedBounds = { keepMs: hourMs, ownerBytes: 100_000, totalBytes: megabyte, historyBytes: megabyte };
  const stored = new StoredResponses(redis, prefix, { bounds: storedBounds, keys, report });
  /** The end of a complete response, with an event of this number. */
  const endOf = async (id: string, last: number): Promise<ResponseEnd> => {
    const entry = { from: last, last, bytes: Buffer.from('completed;'), fields: {} };
    const facts = { state: 'completed', entry, final: undefined } as const;
    const prepared = await stored.prepare('ada', { id, response: { id, status: 'completed', output: [] }, input: [] });
    return { ...facts, storedResponse: prepared, ledger: ledger.createEntry([ledgerRecord({ id })]) };
  };
  /** Begins a run of a response. Creates the response if there is none. */
  const begin = async (id = 'resp_1') => {
    if (!(await responses.find('ada', id))) await opened.create(id);
    const begun = await opened.begin(id);
    const { record, runId: attempt } = begun;
    return {
      ...begun,
      append: (events: string, from: number, last = from) =>
        work.append(record, attempt, { from, last, bytes: Buffer.from(events), fields: {} }),
      end: async (last: number, changed: Partial<ResponseEnd> = {}) =>
        work.end(record, attempt, { ...(await endOf(id, last)), ...changed }),
    };
  };
  const eventsOf = async (id = 'resp_1', after = -1): Promise<string> =>
    ((await responses.read('ada', id, after))?.entries ?? []).map(({ bytes }) => bytes.toString()).join('');
  return { ...opened, stored, ledger, usage, endOf, begin, eventsOf };
}

describe('a response in the background', () => {
  it('ends once: with its last events, stored, counted, and with an event for webhooks', async () => {
    const opened = await open();
    const { responses, work, stored, usage, webhooks } = opened;
    await opened.redis.hset(`${opened.prefix}user:ada`, 'name', 'Ada');
    const { endpoint } = await webhooks.add('http://127.0.0.1:9/', { owner: 'user:ada', events: ['response.*'] });
    const { endpoint: others } = await webhooks.add('http://127.0.0.1:9/', { events: ['response.*'] });
    await opened.create('resp_1');
    expect(await responses.read('ada', 'resp_1', -1)).toMatchObject({ isOver: false, next: 2, opening: 0 });
    const { record, runId: attempt, next, append } = await opened.begin();
    expect(next).toBe(3);
    expect(await append('a;', 3, 5)).toBe('kept');
    const end = await opened.endOf('resp_1', 6);
    expect(await work.end(record, attempt, end)).toBe('ended');
    // Called again, as if the reply was lost; nothing is written twice.
    expect(await work.end(record, attempt, end)).toBe('ended');
    expect(await work.end(record, 'another', end)).toBe('over');
    expect(await append('b;', 9)).toBe('superseded');
    expect(await work.beginRun(record, opened.opening)).toBeUndefined();
    expect(await responses.cancel(record, { id: 'resp_1' })).toBe(false);
    expect(await opened.eventsOf()).toBe('created;queued;begun;a;completed;');
    expect(await opened.eventsOf('resp_1', 5)).toBe('completed;');
    expect((await stored.find('ada', 'resp_1'))?.response).toMatchObject({ status: 'completed' });
    expect((await usage.listRequests(admin, {}, 10)).requests.map(({ id }) => id)).toEqual(['resp_1']);
    expect(await webhooks.sent(endpoint.id)).toEqual([{ type: 'response.completed', data: { id: 'resp_1' } }]);
    expect(await webhooks.sent(others.id)).toEqual([]);
    const found = made(await responses.find('ada', 'resp_1'));
    expect(found.state).toBe('completed');
    expect([await responses.readRequest(found), await responses.readObject(found)]).toEqual([undefined, undefined]);
  });

  it('keeps only the events of its last run, each once, after the opening, and uses no number twice', async () => {
    const { responses, begin, eventsOf } = await open();
    const first = await begin();
    await first.append('old;', 3, 7);
    const second = await begin();
    expect(second.next).toBe(8);
    expect(await first.append('late;', 8, 9)).toBe('superseded');
    expect(await first.end(10)).toBe('over');
    // It may be written again, because the reply was lost.
    for (let times = 0; times < 2; times += 1) expect(await second.append('new;', 8)).toBe('kept');
    expect(await eventsOf()).toBe('created;queued;begun;new;');
    expect(await responses.read('ada', 'resp_1', 2)).toMatchObject({
      opening: 3,
      begun: 8,
      next: 9,
      entries: [{ last: 8, bytes: Buffer.from('new;') }],
    });
    const third = await begin();
    expect(await third.end(third.next)).toBe('ended');
    expect(await eventsOf()).toBe('created;queued;begun;completed;');
  });

  it.each(['further events', 'its end'])('shows no events when its store has lost some, after %s', async (what) => {
    const { responses, begin } = await open();
    const { next, append, end } = await begin();
    // Events up to number 5 were written to a primary that is gone.
    if (what === 'its end') expect(await end(6)).toBe('ended');
    else expect(await append('b;', next + 3, 7)).toBe('lost');
    expect(await responses.read('ada', 'resp_1', -1)).toMatchObject({ isLost: true, entries: [] });
  });

  it('that was cancelled is counted once, for the run that was under way', async () => {
    const opened = await open();
    const { responses, work, ledger, usage, webhooks } = opened;
    const { endpoint } = await webhooks.add('http://127.0.0.1:9/', { events: ['response.cancelled'] });
    await opened.redis.hset(`${opened.prefix}key:ada`, 'kind', 'router');
    const { record, runId: attempt } = await opened.begin();
    const entry = ledger.createEntry([ledgerRecord({ id: 'resp_1' })]);
    expect(await work.charge(record, attempt, entry)).toBe(false);
    expect(await responses.cancel(record, { id: 'resp_1', status: 'cancelled' })).toBe(true);
    expect(await responses.readObject(record)).toEqual({ id: 'resp_1', status: 'cancelled' });
    expect(await responses.delete('ada', 'resp_1')).toBe(true);
    expect(await responses.find('ada', 'resp_1')).toBeUndefined();
    expect(await responses.read('ada', 'resp_1', -1)).toBeUndefined();
    expect(await work.charge(record, 'another', entry)).toBe(false);
    // Called again, as if the reply was lost.
    for (let calls = 0; calls < 2; calls += 1) expect(await work.charge(record, attempt, entry)).toBe(true);
    expect((await usage.listRequests(admin, {}, 10)).requests).toHaveLength(1);
    expect(await webhooks.sent(endpoint.id)).toHaveLength(1);
  });

  it('is not ended with an answer that is too large to be stored', async () => {
    const { responses, stored, begin } = await open();
    const { record, next, end } = await begin();
    const large = { id: 'resp_1', response: { id: 'resp_1', text: 'x'.repeat(200_000) }, input: [] };
    expect(await end(next, { storedResponse: await stored.prepare('ada', large) })).toBe('too large');
    const final = { id: 'resp_1', status: 'failed' };
    expect(await end(next, { state: 'failed', storedResponse: undefined, final })).toBe('ended');
    expect(await responses.readObject(record)).toEqual(final);
  });

  it('is found only by its owner, and is sealed in Redis', async () => {
    const { responses, create, redis, prefix } = await open();
    await create('resp_1', { body: 'a secret' });
    const record = made(await responses.find('ada', 'resp_1'));
    expect(await responses.readRequest(record)).toEqual({ body: 'a secret' });
    expect(await responses.find('bob', 'resp_1')).toBeUndefined();
    expect(await responses.read('bob', 'resp_1', -1)).toBeUndefined();
    expect(await responses.delete('bob', 'resp_1')).toBe(false);
    const everything = await readAllValues(redis, prefix);
    for (const text of ['a secret', 'created;']) expect(everything).not.toContain(text);
  });
});

it('the room for responses in the background is made by removing the oldest finished ones, and refuses a request if there are none', async () => {
  const { responses, create, begin, eventsOf, redis, prefix } = await open({ ownerBytes: 20_000 });
  const body = 'x'.repeat(6_000);
  for (const id of ['resp_1', 'resp_2']) await create(id, { body });
  await expect(create('resp_3', { body })).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  await expect(create('resp_3', { body: 'x'.repeat(20_000) })).rejects.toMatchObject({ code: 'body_too_large' });
  const { next, append, end } = await begin();
  await append('y'.repeat(2_000), next);
  expect(await end(next + 1)).toBe('ended');
  // Its request is gone, its events are not.
  await create('resp_3', { body: 'short' });
  expect(await eventsOf()).toContain('completed;');
  await create('resp_4', { body: 'x'.repeat(8_000) });
  expect(await responses.find('ada', 'resp_1')).toBeUndefined();
  await backgroundJournal.removeOwner(redis, prefix, 'ada');
  expect(await redis.keys(`${prefix}background-*`)).toEqual([`${prefix}background-total`]);
  expect(await redis.get(`${prefix}background-total`)).toBe('0');
});

it('the room for responses in the background is made by dropping the events of a response that has too many, not the response', async () => {
  const { responses, begin, redis, prefix } = await open({ ownerBytes: 20_000 });
  const { append, next } = await begin();
  expect(await append('y'.repeat(30_000), next)).toBe('lost');
  expect(await responses.read('ada', 'resp_1', -1)).toMatchObject({ isLost: true, entries: [] });
  expect(await append('y', next + 1)).toBe('lost');
  expect(Number(await redis.get(`${prefix}background-total`))).toBeLessThan(2_000);
  // The events of later runs are not kept either, and the response can be removed.
  const second = await begin();
  expect(await second.end(second.next)).toBe('ended');
  expect(await responses.delete('ada', 'resp_1')).toBe(true);
  expect(await responses.find('ada', 'resp_1')).toBeUndefined();
});

it('the room for responses in the background cannot be taken by a few owners: each may take half of what the unfinished ones of others leave', async () => {
  const { create, redis, prefix } = await open({ totalBytes: 100_000, maxOpen: 100 });
  const fill = async (owner: string): Promise<number> => {
    for (let at = 0; ; at += 1)
      try {
        await create(`resp_${owner}${at}`, { owner, body: 'x'.repeat(1_000) });
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limit_exceeded' });
        return Number(await redis.zscore(`${prefix}background-bytes`, owner));
      }
  };
  const bytes = [await fill('ada'), await fill('bob'), await fill('cleo')];
  const expected = [50_000, 25_000, 12_500];
  for (const [at, limit] of expected.entries()) {
    expect(bytes[at]).toBeLessThanOrEqual(limit);
    expect(bytes[at]).toBeGreaterThan(limit - 5_000);
  }
  await create('resp_dan', { owner: 'dan', body: 'x'.repeat(1_000) });
  await expect(create('resp_large', { owner: 'eve', body: 'x'.repeat(50_000) })).rejects.toMatchObject({
    code: 'body_too_large',
  });
  for (const owner of ['ada', 'bob', 'cleo', 'dan']) await backgroundJournal.removeOwner(redis, prefix, owner);
  expect(await redis.keys(`${prefix}background-*`)).toEqual([`${prefix}background-total`]);
});

it('the room for responses in the background is not kept by an owner whose responses an earlier release has ended', async () => {
  const { create, work, redis, prefix } = await open({ totalBytes: 10_000 });
  await redis.zadd(`${prefix}background-open-bytes`, 10_000, 'gone');
  await work.sweep();
  expect(await create('resp_1', { body: 'x'.repeat(1_000) })).toBe(1);
});

it('the room for responses in the background is made by removing finished ones of the owner with the most', async () => {
  const { create, begin, responses, endOf, work, redis, prefix } = await open({
    totalBytes: 36_000,
    ownerBytes: 30_000,
  });
  const finish = async (id: string, owner: string, bytes: number) => {
    await create(id, { owner });
    const record = made(await work.find(id));
    const { runId, next } = made(await work.beginRun(record, { events: 'begun;', last: 2 }));
    const end = { ...(await endOf(id, next)), storedResponse: undefined, final: { id, text: 'x'.repeat(bytes) } };
    expect(await work.end(record, runId, end)).toBe('ended');
  };
  await finish('resp_small', 'bob', 3_000);
  await finish('resp_large', 'cleo', 9_000);
  await finish('resp_larger', 'cleo', 9_000);
  await create('resp_1', { body: 'x'.repeat(9_000) });
  expect(await responses.find('bob', 'resp_small')).toBeDefined();
  expect(await responses.find('cleo', 'resp_large')).toBeUndefined();
  expect(await responses.find('cleo', 'resp_larger')).toBeDefined();
  const { next, end } = await begin();
  expect(await end(next)).toBe('ended');
  expect(await redis.exists(`${prefix}background-open-bytes`)).toBe(0);
});

it('the room for responses in the background is bounded by a number of unfinished responses per owner', async () => {
  const opened = await open({ maxOpen: 2 });
  expect(await opened.create('resp_1')).toBe(1);
  expect(await opened.create('resp_2')).toBe(2);
  await expect(opened.create('resp_3')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  expect(await opened.create('resp_4', { owner: 'bob' })).toBe(1);
  const { next, end } = await opened.begin();
  await end(next);
  await opened.create('resp_3');
});

it('the room for responses in the background is free again when they expire, even if Redis has removed them by itself', async () => {
  const opened = await open({ openMs: 50, keepMs: 50, maxOpen: 2 });
  const { redis, prefix, work } = opened;
  await opened.create('resp_1', { body: 'x'.repeat(6_000) });
  await opened.create('resp_2');
  await redis.del(...['response', 'texts', 'events'].map((kind) => `${prefix}background-${kind}:resp_1`));
  await until(async () => {
    await work.sweep();
    return (await redis.keys(`${prefix}background-*`)).join() === `${prefix}background-total`;
  });
  expect(await redis.get(`${prefix}background-total`)).toBe('0');
  await opened.create('resp_3');
});

it.each(['waits', 'is over'])('a removed response in the background that %s leaves nothing in Redis', async (what) => {
  const { responses, create, begin, redis, prefix, work } = await open();
  await create('resp_1');
  if (what === 'is over') {
    const { next, end } = await begin();
    expect(await end(next, { storedResponse: undefined, final: { id: 'resp_1' } })).toBe('ended');
    expect(await responses.delete('ada', 'resp_1')).toBe(true);
  } else expect(await responses.cancel(made(await work.find('resp_1')), { id: 'resp_1' }, true)).toBe(true);
  expect(await redis.keys(`${prefix}background-*`)).toEqual([`${prefix}background-total`]);
  expect(await redis.get(`${prefix}background-total`)).toBe('0');
});

it('a response in the background that is removed during its run leaves its record until its use is counted', async () => {
  const { responses, begin, redis, prefix, work, ledger } = await open();
  const { record, runId } = await begin();
  expect(await responses.cancel(record, { id: 'resp_1' }, true)).toBe(true);
  expect(await redis.zscore(`${prefix}background-expiries`, 'ada resp_1')).toSatisfy((at) => at > Date.now() + 3e6);
  expect(await work.charge(record, runId, ledger.createEntry([]))).toBe(true);
  expect(await redis.zscore(`${prefix}background-expiries`, 'ada resp_1')).toSatisfy((at) => at < Date.now() + 61e3);
});

it('changes of responses reach their listeners, also after the connection was lost', async () => {
  const { create, begin, redis, prefix } = await open();
  const subscriber = redis.duplicate();
  const changes = new AnswerChanges(subscriber, prefix);
  await create('resp_1');
  const seen: string[] = [];
  const stop = changes.watch('resp_1', (change) => seen.push(change));
  const { next, append, end } = await begin();
  let last = next;
  const untilSeen = () =>
    until(async () => {
      await append('a;', last++);
      return seen.includes('events');
    });
  await untilSeen();
  const again = once(subscriber, 'ready');
  subscriber.disconnect(true);
  await again;
  // What the lost connection had received does not count.
  seen.length = 0;
  await untilSeen();
  await end(last);
  await until(() => expect(seen).toContain('over'));
  stop();
  subscriber.disconnect();
});
