import { beforeEach, expect, it } from 'vitest';
import { maxSpanFields, maxSpanOwners } from '#shared/accounts/ledger/span-sums.ts';
import type { UsageSpan } from '#shared/accounts/ledger/span-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { HourQuery } from '#shared/accounts/ledger/hour-groups.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { admin, member, openLedger } from '../../../helpers/accounts/open-ledger.ts';
import { passTime } from '../../../helpers/pass-time.ts';

const hour = 3_600_000;
const ada = member('ada', 't1');

// No hour may begin between a request and the sums.
beforeEach(() => passTime(0));

async function open(records: readonly UsageRecord[]) {
  const { write, reader, redis, prefix } = await openLedger();
  await write(...records);
  const read = (span: UsageSpan, viewer = admin) => reader.readOverview(viewer, span, 10);
  return { redis, prefix, read };
}

const team = { owner: { kind: 'team', id: 't1' }, key: { id: 'k2', name: 'ci' } } as const;
const ofEve = { owner: { kind: 'user', id: 'eve' }, key: { id: 'k3', name: 'eve' } } as const;

it('the sums of a span contain the requests that began in it, by step, with their times and the models, keys and workers with the most of them', async () => {
  const now = Date.now();
  const { read } = await open([
    ledgerRecord({ at: now, firstTokenMs: 20, totalMs: 100 }),
    ledgerRecord({ at: now, firstTokenMs: 20, totalMs: 100, outcome: 'failed', code: 'worker_lost', cost: 0 }),
    ledgerRecord({ at: now - 3 * hour, model: 'm2', worker: 'w2', firstTokenMs: 200, totalMs: 4_000, ...team }),
    ledgerRecord({ at: now - 30 * hour, model: 'm2', worker: 'w2', outcome: 'cancelled', firstTokenMs: undefined }),
    ledgerRecord({ at: now - 200 * hour }),
  ]);
  const [minutes, today, week] = [await read('1h'), await read('24h'), await read('7d')];
  expect([minutes, today].map(({ times }) => times.length)).toEqual([12, 24]);
  // Seven days of UTC, of which the last has begun.
  const day = Math.floor(now / (24 * hour)) * 24 * hour;
  expect([week.from, week.to]).toEqual([day - 6 * 24 * hour, day + 24 * hour]);
  expect(week.times).toHaveLength(6 * 24 + Math.floor((now - day) / hour) + 1);
  expect([minutes, today, week].map(({ stepMs }) => stepMs)).toEqual([hour / 12, hour, hour]);
  const counts = { requests: 2, failed: 1, promptTokens: 20, completionTokens: 10, cost: 1_000 };
  expect(minutes.totals).toMatchObject(counts);
  expect(minutes.steps.at(-1)).toMatchObject({ requests: 2 });
  expect(today.totals).toMatchObject({ requests: 3, failed: 1, cancelled: 0 });
  expect(today.steps.at(-4)).toMatchObject({ requests: 1, cost: 1_000 });
  expect(week.totals).toMatchObject({ requests: 4, cancelled: 1 });
  // Classes are a fifth wide.
  expect(Math.abs((minutes.firstTokenMs?.p50 ?? 0) - 20)).toBeLessThan(4);
  expect(Math.abs((today.totalMs?.p95 ?? 0) - 4_000)).toBeLessThan(800);
  const models = today.top.model.map(({ id, requests, failed }) => `${id}: ${requests}, ${failed} failed`);
  expect(models).toEqual(['m1: 2, 1 failed', 'm2: 1, 0 failed']);
  const keys = today.top.key.map(({ id, user, team: of, requests }) => `${id} of ${user}${of}: ${requests}`);
  expect(keys).toEqual(['k1 of ada: 2', 'k2 of t1: 1']);
  // Of as many requests, those that cost more come first.
  expect(week.top.worker.map(({ id, requests }) => `${id}: ${requests}`)).toEqual(['w2: 2', 'w1: 2']);
});

it('the sums of a span show what a viewer may see: their own, those of their teams, and everything for an administrator', async () => {
  const { read } = await open([
    ledgerRecord({}),
    ledgerRecord({ ...team, model: 'm2', worker: 'w2' }),
    ledgerRecord({ ...ofEve, model: 'secret', worker: 'w9' }),
    ledgerRecord({ owner: undefined, key: { id: 'k4', name: 'router' } }),
  ]);
  const all = await read('24h');
  expect(all.totals.requests).toBe(4);
  const own = await read('24h', ada);
  expect(own.totals.requests).toBe(2);
  expect(own.top.key.map(({ id }) => id).toSorted()).toEqual(['k1', 'k2']);
  expect(JSON.stringify(own)).not.toMatch(/secret|w9|eve|k4/);
  const stranger = await read('24h', member('x'));
  const nothing = { model: [], key: [], worker: [] };
  expect([stranger.totals.requests, stranger.top, stranger.totalMs]).toEqual([0, nothing, undefined]);
});

it('the sums of a span are bounded: further models, keys and workers are counted together, further owners in the sums of all', async () => {
  const models = Array.from({ length: 500 }, (_, index) => ledgerRecord({ model: `m${index}`, worker: 'w' }));
  const owners = Array.from({ length: maxSpanOwners + 50 }, (_, index) =>
    ledgerRecord({ owner: { kind: 'user', id: `u${index}` }, key: { id: `key-${index}`, name: 'k' } }),
  );
  const { read, redis, prefix } = await open([...models, ...owners]);
  const all = await read('24h');
  expect(all.totals.requests).toBe(models.length + owners.length);
  expect(all.top.key.map(({ id }) => id)).toContain('other');
  expect((await read('24h', ada)).totals.requests).toBe(500);
  const hours = await redis.keys(`${prefix}usage:spans:hour:*`);
  expect(hours.length).toBeLessThanOrEqual(maxSpanOwners + 1);
  for (const name of hours) {
    const most = name.includes(':user:') ? maxSpanFields.owner : maxSpanFields.everybody;
    // What is counted of each request as a whole, and a last row.
    expect(await redis.hlen(name)).toBeLessThan(most + 40);
    const days = (await redis.pttl(name)) / (24 * hour);
    expect(days > 7 && days <= 8, `${days} days`).toBe(true);
  }
  for (const name of await redis.keys(`${prefix}usage:spans:minutes:*`))
    expect(await redis.pttl(name)).toBeLessThanOrEqual(2 * hour);
});

async function openHours(...records: UsageRecord[]) {
  const { write, reader } = await openLedger();
  await write(...records);
  const now = Date.now();
  const read = (query: Partial<HourQuery>) =>
    reader.readHours({ viewer: admin, from: now - 2 * hour, to: now, by: 'model', filter: {}, ...query });
  const countsOf = async (query: Partial<HourQuery>) =>
    (await read(query)).groups.map(({ id, steps }) => [id, ...steps.map(({ requests }) => requests)].join(' '));
  return { now, read, countsOf };
}

it('hours contain the sums of requests, for each hour that has begun in a period', async () => {
  const { now, read, countsOf } = await openHours(
    ledgerRecord({ cost: 5 }),
    ledgerRecord({ cost: 7, outcome: 'failed', code: 'worker_lost' }),
    ledgerRecord({ at: Date.now() - 2 * hour, model: 'm2' }),
    ledgerRecord({ at: Date.now() - 4 * hour, model: 'm2' }),
  );
  const { times, groups } = await read({});
  const last = Math.floor(now / hour) * hour;
  expect(times).toEqual([last - 2 * hour, last - hour, last]);
  expect(groups.map(({ id, totals }) => [id, totals])).toEqual([
    ['m1', { requests: 2, failed: 1, promptTokens: 20, completionTokens: 10, cost: 12 }],
    ['m2', { requests: 1, failed: 0, promptTokens: 10, completionTokens: 5, cost: 1_000 }],
  ]);
  expect(await countsOf({})).toEqual(['m1 0 0 2', 'm2 1 0 0']);
});

it('hours are grouped by key, team or person, and can be filtered by these', async () => {
  const { countsOf } = await openHours(ledgerRecord({}), ledgerRecord(team), ledgerRecord(team), ledgerRecord(ofEve));
  expect(await countsOf({ by: 'key' })).toEqual(['k2 0 0 2', 'k1 0 0 1', 'k3 0 0 1']);
  expect(await countsOf({ by: 'team' })).toEqual([' 0 0 2', 't1 0 0 2']);
  expect(await countsOf({ by: 'key', filter: { user: 'eve' } })).toEqual(['k3 0 0 1']);
  expect(await countsOf({ by: 'user', filter: { team: 't1' } })).toEqual([' 0 0 2']);
});

it('hours are those that the viewer may see', async () => {
  const { countsOf } = await openHours(ledgerRecord({}), ledgerRecord(team), ledgerRecord({ ...ofEve, model: 'm3' }));
  expect(await countsOf({ viewer: ada })).toEqual(['m1 0 0 2']);
  expect(await countsOf({ viewer: ada, by: 'key' })).toEqual(['k1 0 0 1', 'k2 0 0 1']);
  expect(await countsOf({ viewer: member('ada'), by: 'team' })).toEqual([' 0 0 1']);
});
