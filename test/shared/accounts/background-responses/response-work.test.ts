import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { BackgroundBounds } from '#shared/accounts/background-responses/background-settings.ts';
import { removeBackgroundOf } from '#shared/accounts/background-responses/remove-background-of.ts';
import { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { ResponseEnd } from '#shared/accounts/background-responses/response-work.ts';
import { StoredResponses } from '#shared/accounts/stored-responses/stored-responses.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { openBackgroundResponses } from '../../../helpers/accounts/open-background-responses.ts';
import { admin, openLedger } from '../../../helpers/accounts/open-ledger.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';
import { until } from '../../../helpers/until.ts';

const hourMs = 3_600_000;
const megabyte = 1024 * 1024;

async function open(change: Partial<BackgroundBounds> = {}) {
  const opened = await openBackgroundResponses(change);
  const { redis, prefix, keys, report } = opened;
  const { ledger, reader: usage } = await openLedger({}, opened);
  const storedBounds = { keepMs: hourMs, ownerBytes: 100_000, totalBytes: megabyte, historyBytes: megabyte };
  const stored = new StoredResponses(redis, prefix, { bounds: storedBounds, keys, report });
  return { ...opened, stored, ledger, usage };
}

type Opened = Awaited<ReturnType<typeof open>>;

async function endOf({ ledger, stored }: Opened, id: string, last: number, from = last): Promise<ResponseEnd> {
  const response = { id, status: 'completed', output: [{ type: 'message', id: `msg_${id}` }] };
  return {
    state: 'completed',
    events: 'completed;',
    from,
    last,
    final: undefined,
    stored: await stored.prepare('ada', { id, response, input: [{ type: 'message', id: `in_${id}` }] }),
    ledger: ledger.entryOf([ledgerRecord({ id })]),
  };
}

/** All events of a response. */
async function eventsOf({ responses }: Opened, id: string, after = -1): Promise<string> {
  return ((await responses.read('ada', id, after))?.events ?? []).join('');
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
    const { record, attempt, next } = await opened.begin('resp_1');
    expect(next).toBe(3);
    expect(await work.append(record, attempt, { events: 'a;', from: 3, last: 5 })).toBe(true);
    const end = await endOf(opened, 'resp_1', 6);
    expect(await work.end(record, attempt, end)).toBe('ended');
    // Called again when the answer was lost; nothing is written twice.
    expect(await work.end(record, attempt, end)).toBe('ended');
    expect(await work.end(record, 'another', end)).toBe('over');
    expect(await work.append(record, attempt, { events: 'b;', from: 9, last: 9 })).toBe(false);
    expect(await work.begin(record, opened.opening)).toBeUndefined();
    expect(await responses.cancel(record, { id: 'resp_1' })).toBe(false);
    expect(await eventsOf(opened, 'resp_1')).toBe('created;queued;begun;a;completed;');
    expect(await eventsOf(opened, 'resp_1', 5)).toBe('completed;');
    expect((await stored.find('ada', 'resp_1'))?.response).toMatchObject({ status: 'completed' });
    expect((await usage.requests(admin, {}, 10)).requests.map(({ id }) => id)).toEqual(['resp_1']);
    const sent = await webhooks.deliveries.list(endpoint.id, { limit: 10 });
    expect(sent.map(({ type, body }) => [type, (JSON.parse(body) as { data: object }).data])).toEqual([
      ['response.completed', { id: 'resp_1' }],
    ]);
    expect(await webhooks.deliveries.list(others.id, { limit: 10 })).toEqual([]);
    const found = await responses.find('ada', 'resp_1');
    expect(found).toMatchObject({ state: 'completed' });
    expect(found && (await responses.requestOf(found))).toBeUndefined();
    expect(found && (await responses.objectOf(found))).toBeUndefined();
  });

  it('has events of its last attempt alone, behind the opening, and uses no number twice', async () => {
    const opened = await open();
    const { responses, work } = opened;
    await opened.create('resp_1');
    const first = await opened.begin('resp_1');
    await work.append(first.record, first.attempt, { events: 'old;', from: 3, last: 7 });
    const second = await opened.begin('resp_1');
    expect(second.next).toBe(8);
    expect(await work.append(first.record, first.attempt, { events: 'late;', from: 8, last: 9 })).toBe(false);
    expect(await work.end(first.record, first.attempt, await endOf(opened, 'resp_1', 10))).toBe('over');
    expect(await work.append(second.record, second.attempt, { events: 'new;', from: 8, last: 8 })).toBe(true);
    expect(await eventsOf(opened, 'resp_1')).toBe('created;queued;begun;new;');
    expect(await responses.read('ada', 'resp_1', 2)).toMatchObject({ opening: 3, begun: 8, next: 9, events: ['new;'] });
    const third = await opened.begin('resp_1');
    expect(await work.end(third.record, third.attempt, await endOf(opened, 'resp_1', third.next))).toBe('ended');
    expect(await eventsOf(opened, 'resp_1')).toBe('created;queued;begun;completed;');
  });

  it('takes events that may have been written again once', async () => {
    const opened = await open();
    await opened.create('resp_1');
    const { record, attempt } = await opened.begin('resp_1');
    for (let times = 0; times < 2; times += 1)
      expect(await opened.work.append(record, attempt, { events: 'a;', from: 3, last: 3 })).toBe(true);
    expect(await eventsOf(opened, 'resp_1')).toBe('created;queued;begun;a;');
  });

  it.each(['further events', 'its end'])(
    'whose store has lost events shows none with %s, rather than some',
    async (what) => {
      const opened = await open();
      const { responses, work } = opened;
      await opened.create('resp_1');
      const { record, attempt, next } = await opened.begin('resp_1');
      // Those up to number 5 were written to a primary that is gone.
      if (what === 'its end') expect(await work.end(record, attempt, await endOf(opened, 'resp_1', 6))).toBe('ended');
      else expect(await work.append(record, attempt, { events: 'b;', from: next + 3, last: 7 })).toBe(true);
      expect(await responses.read('ada', 'resp_1', -1)).toMatchObject({ areGone: true, events: [] });
    },
  );

  it('that was cancelled is counted once, for the attempt that ran', async () => {
    const opened = await open();
    const { responses, work, ledger, usage, webhooks } = opened;
    const { endpoint } = await webhooks.add('http://127.0.0.1:9/', { events: ['response.cancelled'] });
    await opened.redis.hset(`${opened.prefix}key:ada`, 'kind', 'router');
    await opened.create('resp_1');
    const { record, attempt } = await opened.begin('resp_1');
    const entry = ledger.entryOf([ledgerRecord({ id: 'resp_1' })]);
    expect(await work.charge(record, attempt, entry)).toBe(false);
    expect(await responses.cancel(record, { id: 'resp_1', status: 'cancelled' })).toBe(true);
    expect(await responses.objectOf(record)).toEqual({ id: 'resp_1', status: 'cancelled' });
    expect(await responses.remove('ada', 'resp_1')).toBe(true);
    expect(await responses.find('ada', 'resp_1')).toBeUndefined();
    expect(await responses.read('ada', 'resp_1', -1)).toBeUndefined();
    expect(await work.charge(record, 'another', entry)).toBe(false);
    // Called again when the answer was lost.
    for (let calls = 0; calls < 2; calls += 1) expect(await work.charge(record, attempt, entry)).toBe(true);
    expect((await usage.requests(admin, {}, 10)).requests).toHaveLength(1);
    expect(await webhooks.deliveries.list(endpoint.id, { limit: 10 })).toHaveLength(1);
  });

  it('whose answer is too large to be stored is not ended with it', async () => {
    const opened = await open();
    const { work, stored } = opened;
    await opened.create('resp_1');
    const { record, attempt, next } = await opened.begin('resp_1');
    const end = await endOf(opened, 'resp_1', next);
    const large = { id: 'resp_1', response: { id: 'resp_1', text: 'x'.repeat(200_000) }, input: [] };
    expect(await work.end(record, attempt, { ...end, stored: await stored.prepare('ada', large) })).toBe('too large');
    const failed = { ...end, state: 'failed', stored: undefined, final: { id: 'resp_1', status: 'failed' } } as const;
    expect(await work.end(record, attempt, failed)).toBe('ended');
    const found = await opened.responses.find('ada', 'resp_1');
    expect(found && (await opened.responses.objectOf(found))).toEqual({ id: 'resp_1', status: 'failed' });
  });

  it('is found by its owner alone, and is in Redis sealed', async () => {
    const opened = await open();
    const { responses, redis, prefix } = opened;
    await opened.create('resp_1', { body: 'a secret' });
    const record = await responses.find('ada', 'resp_1');
    expect(record && (await responses.requestOf(record))).toEqual({ body: 'a secret' });
    expect(await responses.find('bob', 'resp_1')).toBeUndefined();
    expect(await responses.read('bob', 'resp_1', -1)).toBeUndefined();
    expect(await responses.remove('bob', 'resp_1')).toBe(false);
    const everything = await readAllValues(redis, prefix);
    for (const text of ['a secret', 'created;']) expect(everything).not.toContain(text);
  });
});

describe('the room for responses in the background', () => {
  it('has the oldest that are over leave first, and refuses a request where none is', async () => {
    const opened = await open({ ownerBytes: 20_000 });
    const { responses, work, redis, prefix } = opened;
    const body = 'x'.repeat(6_000);
    await opened.create('resp_1', { body });
    await opened.create('resp_2', { body });
    await expect(opened.create('resp_3', { body })).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    const huge = opened.create('resp_3', { body: 'x'.repeat(20_000) });
    await expect(huge).rejects.toMatchObject({ code: 'body_too_large' });
    const { record, attempt, next } = await opened.begin('resp_1');
    await work.append(record, attempt, { events: 'y'.repeat(2_000), from: next, last: next });
    expect(await work.end(record, attempt, await endOf(opened, 'resp_1', next + 1))).toBe('ended');
    // Its request is gone, its events are not.
    await opened.create('resp_3', { body: 'short' });
    expect(await eventsOf(opened, 'resp_1')).toContain('completed;');
    await opened.create('resp_4', { body: 'x'.repeat(8_000) });
    expect(await responses.find('ada', 'resp_1')).toBeUndefined();
    await removeBackgroundOf(redis, prefix, 'ada');
    const left = (await redis.keys(`${prefix}background-*`)).filter((name) => !name.endsWith('background-total'));
    expect(left).toEqual([]);
    expect(await redis.get(`${prefix}background-total`)).toBe('0');
  });

  it('has the events of a response that has too many go, not the response', async () => {
    const opened = await open({ ownerBytes: 20_000 });
    const { responses, work, redis, prefix } = opened;
    await opened.create('resp_1');
    const { record, attempt, next } = await opened.begin('resp_1');
    expect(await work.append(record, attempt, { events: 'y'.repeat(30_000), from: next, last: next })).toBe(true);
    expect(await responses.read('ada', 'resp_1', -1)).toMatchObject({ areGone: true, events: [] });
    expect(await work.append(record, attempt, { events: 'y', from: next + 1, last: next + 1 })).toBe(true);
    expect(Number(await redis.get(`${prefix}background-total`))).toBeLessThan(2_000);
    // Also by the attempts that follow, and whoever removes it.
    const second = await opened.begin('resp_1');
    expect(second.next).toBe(next + 2);
    expect(await work.end(record, second.attempt, await endOf(opened, 'resp_1', next + 2))).toBe('ended');
    expect(await responses.remove('ada', 'resp_1')).toBe(true);
    expect(await responses.find('ada', 'resp_1')).toBeUndefined();
  });

  it('is for so many of an owner that are not over', async () => {
    const opened = await open({ mostOpen: 2 });
    expect(await opened.create('resp_1')).toBe(1);
    expect(await opened.create('resp_2')).toBe(2);
    await expect(opened.create('resp_3')).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect(await opened.create('resp_4', { owner: 'bob' })).toBe(1);
    const { record, attempt, next } = await opened.begin('resp_1');
    await opened.work.end(record, attempt, await endOf(opened, 'resp_1', next));
    await opened.create('resp_3');
  });

  it('is free again when their time is over, also where Redis has removed them itself', async () => {
    const opened = await open({ openMs: 50, keepMs: 50, mostOpen: 2 });
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
});

it('changes of responses reach those who follow them, also after the connection was lost', async () => {
  const opened = await open();
  const { work, redis, prefix } = opened;
  const subscriber = redis.duplicate();
  const changes = new ResponseChanges(subscriber, prefix);
  await opened.create('resp_1');
  const seen: string[] = [];
  const stop = changes.watch('resp_1', (change) => seen.push(change));
  const { record, attempt, next } = await opened.begin('resp_1');
  let last = next;
  const append = async (): Promise<void> => {
    await work.append(record, attempt, { events: 'a;', from: last, last: last++ });
  };
  await until(async () => {
    await append();
    return seen.includes('events');
  });
  const again = once(subscriber, 'ready');
  subscriber.disconnect(true);
  await again;
  // What the lost connection had received does not count.
  seen.length = 0;
  await until(async () => {
    await append();
    return seen.includes('events');
  });
  await work.end(record, attempt, await endOf(opened, 'resp_1', last));
  await until(() => expect(seen).toContain('over'));
  stop();
  subscriber.disconnect();
});
