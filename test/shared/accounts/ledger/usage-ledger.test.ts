import { pino } from 'pino';
import { expect, it } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { ReportQuery } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { allPages } from '../../../helpers/accounts/all-pages.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { admin, member, openLedger as open } from '../../../helpers/accounts/open-ledger.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../helpers/until.ts';

const day = 86_400_000;

function record(fields: Partial<UsageRecord> = {}): UsageRecord {
  return ledgerRecord({ at: Date.UTC(2026, 10, 21, 12), owner: { kind: 'user', id: 'u1' }, ...fields });
}

const november = { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 11, 1) };
const byKey: ReportQuery = { viewer: admin, ...november, step: 'month', by: 'key', filter: {} };

it('requests by purpose are found by their purpose', async () => {
  const { write, reader } = await open();
  const title = record({ id: 'title', purpose: 'auxiliary', rule: 'models.coder.purposes.auxiliary' });
  await write(title, record({ id: 'turn', purpose: 'main' }), record({ id: 'unknown' }));
  const { requests } = await reader.listRequests(admin, { purpose: 'auxiliary' }, 10);
  expect(requests).toMatchObject([{ id: 'title', rule: title.rule }]);
  const exported: string[] = [];
  for await (const { id } of reader.export(admin, { purpose: 'main' }, byKey.from, byKey.to)) exported.push(id);
  expect(exported).toEqual(['turn']);
});

it('requests by purpose are summed up by their purpose, beside those whose purpose is unknown', async () => {
  const { write, reader } = await open();
  const main = () => record({ purpose: 'main' });
  await write(record({ purpose: 'auxiliary', cost: 7 }), main(), main(), record());
  const { groups, totals } = await reader.readReport({ ...byKey, by: 'purpose', step: 'day' });
  const counts = Object.fromEntries(groups.map(({ id, totals: of }) => [id, of.requests]));
  expect(counts).toEqual({ auxiliary: 1, main: 2, '': 1 });
  expect(totals.requests).toBe(4);
  const ofMain = await reader.readReport({ ...byKey, by: 'model', filter: { purpose: 'main' } });
  expect(ofMain.groups).toMatchObject([{ id: 'm1', totals: { requests: 2 } }]);
});

it('requests of other units than tokens are kept and summed up by their units', async () => {
  const { write, reader } = await open();
  const spoken = record({ characters: 12_345, searches: 4 });
  await write(record({ images: 2 }), record({ images: 1, seconds: 90 }), spoken);
  const { requests } = await reader.listRequests(admin, {}, 10);
  expect(requests).toMatchObject([{ characters: 12_345 }, { images: 1, seconds: 90 }, { images: 2 }]);
  const report = await reader.readReport(byKey);
  expect(report.totals).toMatchObject({ images: 3, seconds: 90, characters: 12_345, searches: 4, promptTokens: 30 });
});

const ofTeam = { key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } } as const;

it('totals are reported by day, in steps without a gap, by any group and filter', async () => {
  const { write, reader } = await open();
  await write(
    record({ at: Date.UTC(2026, 10, 20, 23, 59, 59, 999) }),
    record({ at: Date.UTC(2026, 10, 21), model: 'm2', tier: 'cloud', outcome: 'failed', cost: 5 }),
    record({ at: Date.UTC(2026, 10, 22), ...ofTeam }),
    record({ at: Date.UTC(2026, 11, 1), outcome: 'cancelled' }),
  );
  const range = { from: Date.UTC(2026, 10, 20, 7), to: Date.UTC(2026, 10, 22, 1) };
  const byModel = await reader.readReport({ ...byKey, ...range, step: 'day', by: 'model' });
  expect(byModel.times).toEqual([20, 21, 22].map((date) => Date.UTC(2026, 10, date)));
  expect(byModel.totals).toMatchObject({ requests: 3, failed: 1, cancelled: 0, promptTokens: 30, cost: 2_005 });
  const counts = byModel.groups.map(({ id, steps }) => [id, ...steps.map(({ requests }) => requests)].join(' '));
  expect(counts).toEqual(['m1 1 0 1', 'm2 0 1 0']);
  const ofUser = await reader.readReport({ ...byKey, filter: { user: 'u1', tier: 'cloud' } });
  expect(ofUser.groups).toMatchObject([{ id: 'k1', totals: { requests: 1, cost: 5 } }]);
  const year = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) };
  const months = await reader.readReport({ ...byKey, ...year, by: 'team' });
  expect(months.times).toHaveLength(12);
  expect(months.totals).toMatchObject({ requests: 4, cancelled: 1 });
  expect(Object.fromEntries(await reader.readKeyNames(['k1', 'k2', 'k3']))).toEqual({ k1: 'laptop', k2: 'ci' });
});

it('totals show a person only their own keys and teams', async () => {
  const { write, reader } = await open();
  await write(record(), record(ofTeam), record({ key: { id: 'k3', name: 'router' }, owner: undefined }));
  const seen = async (viewer: UsageViewer): Promise<string[]> => {
    const report = await reader.readReport({ ...byKey, viewer });
    const { requests } = await reader.listRequests(viewer, {}, 10);
    expect(report.groups.map(({ id }) => id).toSorted()).toEqual(requests.map(({ key }) => key.id).toSorted());
    return requests.map(({ key }) => key.id).toSorted();
  };
  expect(await seen(member('u1'))).toEqual(['k1']);
  expect(await seen({ ...member('u2', 't1'), keyIds: ['k3'] })).toEqual(['k2', 'k3']);
  expect(await seen(member('u9'))).toEqual([]);
});

it('names of keys are kept for the keys that were used last, and as long as any totals of them', async () => {
  const { write, reader, redis, prefix } = await open({ maxKeyNames: 3 });
  const use = async (id: string) => {
    await write(record({ key: { id, name: `name of ${id}` } }));
    // Uses in one millisecond would count as equally old.
    const usedAt = Date.now();
    await until(() => Date.now() > usedAt);
  };
  const named = async () => [...(await reader.readKeyNames(['old', 'a', 'b', 'c', 'd', 'e'])).keys()];
  // An earlier release has stored no times.
  await redis.hset(`${prefix}usage:key-names`, 'old', 'name of old');
  await use('a');
  await use('b');
  expect(await named()).toEqual(['old', 'a', 'b']);
  await use('a');
  await use('c');
  await use('d');
  expect(await named()).toEqual(['a', 'c', 'd']);
  await redis.zadd(`${prefix}usage:key-names-used`, Date.now() - 3_700 * day, 'c');
  await use('d');
  expect(await named()).toEqual(['a', 'd']);
  expect(await redis.zrange(`${prefix}usage:key-names-used`, '0', '-1')).toEqual(['a', 'd']);
});

it('totals are kept for 400 days by day, and for ten years by month', async () => {
  const { write, redis, prefix } = await open();
  const now = Date.now();
  await write(record({ at: now }));
  const today = new Date(now).toISOString();
  expect((await redis.pttl(`${prefix}usage:${today.slice(0, 10)}`)) / day).toBeCloseTo(399.5, 0);
  expect((await redis.pttl(`${prefix}usage:${today.slice(0, 7)}`)) / day).toBeGreaterThan(3_600);
});

it('totals are written even beside a request whose tool has half a surrogate pair in its name', async () => {
  const { ledger, reader } = await open();
  // Names that an MCP server gives its tools. The second one has no half of a pair: it is a backslash and letters.
  const names = ['a\ud800b', '\\ud800', '𝕏', 'plain'];
  for (const asked of names) ledger.add(record({ asked, model: undefined }));
  await ledger.close();
  const { groups } = await reader.readReport({ ...byKey, by: 'model' });
  expect(groups.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
});

it('totals stay complete when a period has too many keys and models', async () => {
  const { write, reader } = await open({ maxFields: 10 });
  const of = (id: string) => record({ key: { id, name: id } });
  await write(of('k1'), of('k2'), of('new'), of('k1'));
  const { groups } = await reader.readReport({ ...byKey, filter: { model: 'other' } });
  expect(groups).toMatchObject([{ id: 'other', totals: { requests: 1, cost: 1_000 } }]);
  expect((await reader.readReport(byKey)).totals).toMatchObject({ requests: 4, cost: 4_000 });
});

const some = (count: number, fieldsOf: (at: number) => Partial<UsageRecord> = () => ({})): UsageRecord[] =>
  Array.from({ length: count }, (_, at) => record(fieldsOf(at)));

it('single requests are listed newest first, in pages, and filtered', async () => {
  const { write, reader } = await open();
  await write(...some(25, (at) => ({ id: `page-${at}`, outcome: at % 5 === 0 ? 'failed' : 'done' })));
  const pages = await allPages((place?: string) => reader.listRequests(admin, {}, 10, place));
  expect(pages.map(({ requests }) => requests.length)).toEqual([10, 10, 5]);
  const ids = pages.flatMap(({ requests }) => requests.map(({ id }) => id));
  expect(ids).toEqual(Array.from({ length: 25 }, (_, index) => `page-${24 - index}`));
  const failed = await reader.listRequests(admin, { outcome: 'failed', key: 'k1' }, 10);
  expect(failed.requests).toHaveLength(5);
});

it('single requests are bounded in number and age', async () => {
  const { write, redis, prefix } = await open({ maxRequests: 200, requestsKeptMs: day });
  const old = `${Date.now() - 2 * day}-0`;
  for (let index = 0; index < 150; index++)
    await redis.xadd(`${prefix}usage:requests`, `${old.slice(0, -1)}${index}`, 'r', '{}');
  await write(...some(1_000));
  expect(await redis.xlen(`${prefix}usage:requests`)).toBeLessThan(350);
  expect(await redis.xrange(`${prefix}usage:requests`, old, `${Date.now() - day}`)).toEqual([]);
});

it('single requests can all be read between two times', async () => {
  const { write, reader } = await open();
  const now = Date.now();
  await write(...some(1_200, (at) => ({ at: now + at })));
  const read: number[] = [];
  for await (const { at } of reader.export(admin, {}, now + 100, now + 1_100)) read.push(at - now);
  expect(read).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 100));
});

it('the ledger counts a batch once even if the reply was lost', async () => {
  const { proxy, behind, direct } = await openThroughProxy();
  const { ledger } = await open({}, behind);
  const { reader } = await open({}, direct);
  for (const each of some(100, () => ({ at: Date.now(), id: 'again' }))) ledger.add(each);
  // Let requests through, and no replies.
  proxy.pauseAnswers();
  await until(async () => (await reader.listRequests(admin, {}, 200)).requests.length === 100);
  // The connection breaks and comes back: the batch is sent again.
  proxy.cut();
  proxy.resume();
  ledger.add(record({ at: Date.now(), id: 'after' }));
  await until(async () => (await reader.listRequests(admin, {}, 1)).requests[0]?.id === 'after');
  const now = Date.now();
  expect((await reader.readReport({ ...byKey, from: now, to: now + 1 })).totals.requests).toBe(101);
  expect((await reader.listRequests(admin, {}, 200)).requests).toHaveLength(101);
  expect((await reader.readOverview(admin, '24h', 1)).totals.requests).toBe(101);
  expect(await reader.findById(admin, 'again')).toHaveLength(8);
});

it('the ledger writes again what a new primary does not have, and only that', async () => {
  const { ledger, redis, prefix } = await open();
  const { reader, redis: direct } = await open({}, await openKeyStore(undefined, prefix));
  const count = async (): Promise<number> => (await reader.listRequests(admin, {}, 200)).requests.length;
  ledger.add(record({ id: 'replicated' }));
  await until(async () => (await count()) === 1);
  const names = await direct.keys(`${prefix}usage:*`);
  const replicated = await Promise.all(names.map(async (name) => ({ name, dump: await direct.dumpBuffer(name) })));
  ledger.add(record({ id: 'not replicated' }));
  await until(async () => (await count()) === 2);
  // As a replica that had received the first batch only, and is the primary now.
  for (const { name, dump } of replicated) if (dump) await direct.restore(name, 0, dump, 'REPLACE');
  expect(await count()).toBe(1);
  redis.disconnect(true);
  ledger.add(record({ id: 'later' }));
  await until(async () => (await count()) === 3);
  await ledger.close();
  const { requests } = await reader.listRequests(admin, {}, 200);
  expect(requests.map(({ id }) => id)).toEqual(['later', 'not replicated', 'replicated']);
  expect((await reader.readReport(byKey)).totals.requests).toBe(3);
});

it('the ledger waits for Redis to come back, and counts what is too much', async () => {
  const { proxy, behind, direct } = await openThroughProxy();
  const { ledger } = await open({ maxWaiting: 700 }, behind);
  const { reader } = await open({}, direct);
  ledger.add(record());
  await until(async () => (await reader.listRequests(admin, {}, 10)).requests.length === 1);
  proxy.cut();
  for (const each of some(2_000)) ledger.add(each);
  await until(() => ledger.dropped > 0);
  const { dropped } = ledger;
  proxy.resume();
  await until(async () => (await reader.readReport(byKey)).totals.requests === 2_001 - dropped);
  expect(dropped).toBeLessThanOrEqual(1_300);
});

it('the ledger logs once for each outage that it drops requests', async () => {
  const { redis, prefix } = await openKeyStore();
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
  const ledger = new UsageLedger(redis, prefix, log, { maxRequests: 10, requestsKeptMs: day, maxWaiting: 1 });
  for (const outages of [1, 2]) {
    for (const each of some(3)) ledger.add(each);
    expect(lines).toHaveLength(outages);
    await until(() => ledger.backlog === 0);
  }
  expect(ledger.dropped).toBe(4);
  await ledger.close();
});
