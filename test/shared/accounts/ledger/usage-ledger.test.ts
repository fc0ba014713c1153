import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { UsageLedger, type UsageLedgerBounds } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { startPausableProxy } from '../../../helpers/servers/pausable-proxy.ts';
import { until } from '../../../helpers/until.ts';
import { startRedis } from '../../../helpers/servers/start-redis.ts';

const day = 86_400_000;
const admin = { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] };
const log = createLog({ service: 'test', level: 'silent', format: 'json' });

async function open(bounds: Partial<UsageLedgerBounds> = {}, url = inject('redisUrl'), prefix?: string) {
  const opened = await openKeyStore(url, prefix);
  const { redis } = opened.connection;
  const ledger = new UsageLedger(redis, opened.prefix, log, {
    maxRequests: 10_000,
    requestsKeptMs: 30 * day,
    ...bounds,
  });
  onTestFinished(() => ledger.close());
  return { ledger, redis, prefix: opened.prefix, reader: new UsageReader(redis, opened.prefix) };
}

let count = 0;
function record(fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id: `r${++count}`,
    at: Date.UTC(2026, 10, 21, 12),
    key: { id: 'k1', name: 'laptop' },
    owner: { kind: 'user', id: 'u1' },
    format: 'chat',
    operation: 'generate',
    asked: 'auto',
    model: 'm1',
    tier: 'gpu',
    worker: 'w1',
    outcome: 'done',
    attempts: 1,
    totalMs: 12.5,
    promptTokens: 10,
    cachedTokens: 2,
    completionTokens: 5,
    reasoningTokens: 1,
    cost: 1_000,
    ...fields,
  };
}

const november = { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 11, 1) };

describe('requests by purpose', () => {
  it('are found by it, and records of releases without it are read and not found', async () => {
    const { ledger, reader } = await open();
    ledger.add(record({ id: 'title', purpose: 'auxiliary', rule: 'models.coder.purposes.auxiliary' }));
    ledger.add(record({ id: 'turn', purpose: 'main' }));
    ledger.add(record({ id: 'old' }));
    await until(async () => (await reader.requests(admin, {}, 10)).requests.length === 3);
    const { requests } = await reader.requests(admin, { purpose: 'auxiliary' }, 10);
    expect(requests).toMatchObject([{ id: 'title', rule: 'models.coder.purposes.auxiliary' }]);
    const exported: string[] = [];
    for await (const { id } of reader.export(admin, { purpose: 'main' }, november.from, november.to)) exported.push(id);
    expect(exported).toEqual(['turn']);
  });

  it('are summed up by it, beside totals of releases without it', async () => {
    const { ledger, reader, redis, prefix } = await open();
    ledger.add(record({ purpose: 'auxiliary', cost: 7 }));
    ledger.add(record({ purpose: 'main' }));
    ledger.add(record({ purpose: 'main' }));
    ledger.add(record());
    await ledger.close();
    // As a release writes it that knows no purposes.
    await redis.hincrby(`${prefix}usage:2026-11-21`, 'n["k1","u1","","gpu","m1"]', 5);
    const query = { viewer: admin, ...november, step: 'day' as const };
    const { groups, totals } = await reader.report({ ...query, by: 'purpose', filter: {} });
    expect(Object.fromEntries(groups.map(({ id, totals: of }) => [id, of.requests]))).toEqual({
      auxiliary: 1,
      main: 2,
      '': 6,
    });
    expect(totals.requests).toBe(9);
    const ofMain = await reader.report({ ...query, by: 'model', filter: { purpose: 'main' } });
    expect(ofMain.groups).toMatchObject([{ id: 'm1', totals: { requests: 2 } }]);
  });
});

describe('requests of other units than tokens', () => {
  it('are kept and summed up by their units', async () => {
    const { ledger, reader } = await open();
    ledger.add(record({ images: 2 }));
    ledger.add(record({ images: 1, seconds: 90 }));
    ledger.add(record({ characters: 12_345, searches: 4 }));
    await ledger.close();
    const { requests } = await reader.requests(admin, {}, 10);
    expect(requests.map(({ images, seconds, characters }) => [images, seconds, characters])).toEqual([
      [undefined, undefined, 12_345],
      [1, 90, undefined],
      [2, undefined, undefined],
    ]);
    const report = await reader.report({ viewer: admin, ...november, step: 'day', by: 'model', filter: {} });
    expect(report.totals).toMatchObject({ images: 3, seconds: 90, characters: 12_345, searches: 4, promptTokens: 30 });
  });
});

describe('totals', () => {
  it('are reported by day, in steps without a gap, by any group and filter', async () => {
    const { ledger, reader } = await open();
    ledger.add(record({ at: Date.UTC(2026, 10, 20, 23, 59, 59, 999) }));
    ledger.add(record({ at: Date.UTC(2026, 10, 21), model: 'm2', tier: 'cloud', outcome: 'failed', cost: 5 }));
    ledger.add(
      record({ at: Date.UTC(2026, 10, 22), key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } }),
    );
    ledger.add(record({ at: Date.UTC(2026, 11, 1), outcome: 'cancelled' }));
    await ledger.close();
    const range = { from: Date.UTC(2026, 10, 20, 7), to: Date.UTC(2026, 10, 22, 1) };
    const byModel = await reader.report({ viewer: admin, ...range, step: 'day', by: 'model', filter: {} });
    expect(byModel.times).toEqual([20, 21, 22].map((date) => Date.UTC(2026, 10, date)));
    expect(byModel.totals).toMatchObject({ requests: 3, failed: 1, cancelled: 0, promptTokens: 30, cost: 2_005 });
    expect(byModel.groups.map(({ id, steps }) => [id, steps.map(({ requests }) => requests)])).toEqual([
      ['m1', [1, 0, 1]],
      ['m2', [0, 1, 0]],
    ]);
    const filter = { user: 'u1', tier: 'cloud' };
    const ofUser = await reader.report({ viewer: admin, ...november, step: 'month', by: 'key', filter });
    expect(ofUser.groups).toMatchObject([{ id: 'k1', totals: { requests: 1, cost: 5 } }]);
    const year = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1) };
    const months = await reader.report({ viewer: admin, ...year, step: 'month', by: 'team', filter: {} });
    expect(months.times).toHaveLength(12);
    expect(months.totals).toMatchObject({ requests: 4, cancelled: 1 });
    expect(await reader.keyNames(['k1', 'k2', 'k3'])).toEqual(
      new Map([
        ['k1', 'laptop'],
        ['k2', 'ci'],
      ]),
    );
  });

  it('show a person only the own keys and teams', async () => {
    const { ledger, reader } = await open();
    ledger.add(record());
    ledger.add(record({ key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } }));
    ledger.add(record({ key: { id: 'k3', name: 'router' }, owner: undefined }));
    await ledger.close();
    const viewers = {
      owner: { userId: 'u1', isAdmin: false, keyIds: [], teamIds: [] },
      member: { userId: 'u2', isAdmin: false, keyIds: ['k3'], teamIds: ['t1'] },
      stranger: { userId: 'u9', isAdmin: false, keyIds: [], teamIds: [] },
    };
    const seen = async (viewer: UsageViewer): Promise<string[]> => {
      const report = await reader.report({ viewer, ...november, step: 'day', by: 'key', filter: {} });
      const { requests } = await reader.requests(viewer, {}, 10);
      expect(report.groups.map(({ id }) => id).toSorted()).toEqual(requests.map(({ key }) => key.id).toSorted());
      return requests.map(({ key }) => key.id).toSorted();
    };
    expect(await seen(viewers.owner)).toEqual(['k1']);
    expect(await seen(viewers.member)).toEqual(['k2', 'k3']);
    expect(await seen(viewers.stranger)).toEqual([]);
  });

  it('are kept for 400 days and ten years', async () => {
    const { ledger, redis, prefix } = await open();
    const now = Date.now();
    ledger.add(record({ at: now }));
    await ledger.close();
    const today = new Date(now).toISOString();
    expect((await redis.pttl(`${prefix}usage:${today.slice(0, 10)}`)) / day).toBeCloseTo(399.5, 0);
    expect((await redis.pttl(`${prefix}usage:${today.slice(0, 7)}`)) / day).toBeGreaterThan(3_600);
  });

  it('are written with those beside one whose tool is called by half a character', async () => {
    const { ledger, reader } = await open();
    // What an MCP server calls its tools; the second one has no half: it is a backslash and letters.
    for (const asked of ['a\ud800b', '\\ud800', '𝕏', 'plain']) ledger.add(record({ asked, model: undefined }));
    await ledger.close();
    expect(ledger.backlog).toBe(0);
    const { groups } = await reader.report({ viewer: admin, ...november, step: 'month', by: 'model', filter: {} });
    expect(groups.map(({ id }) => id).toSorted()).toEqual(['a\ud800b', '\\ud800', '𝕏', 'plain'].toSorted());
  });

  it('stay whole when a period has too many keys and models', async () => {
    const { ledger, reader } = await open({ maxFields: 10 });
    ledger.add(record());
    ledger.add(record({ key: { id: 'k2', name: 'k2' } }));
    ledger.add(record({ key: { id: 'new', name: 'new' } }));
    ledger.add(record());
    await ledger.close();
    const report = await reader.report({
      viewer: admin,
      ...november,
      step: 'month',
      by: 'key',
      filter: { model: 'other' },
    });
    expect(report.groups).toMatchObject([{ id: 'other', totals: { requests: 1, cost: 1_000 } }]);
    const all = await reader.report({ viewer: admin, ...november, step: 'month', by: 'key', filter: {} });
    expect(all.totals).toMatchObject({ requests: 4, cost: 4_000 });
  });
});

describe('single requests', () => {
  it('are listed newest first, in pages, narrowed by filters', async () => {
    const { ledger, reader } = await open();
    for (let index = 0; index < 25; index++)
      ledger.add(record({ id: `page-${index}`, outcome: index % 5 === 0 ? 'failed' : 'done' }));
    await ledger.close();
    const first = await reader.requests(admin, {}, 10);
    const second = await reader.requests(admin, {}, 10, first.next);
    const third = await reader.requests(admin, {}, 10, second.next);
    const ids = [first, second, third].flatMap(({ requests }) => requests.map(({ id }) => id));
    expect(ids).toEqual(Array.from({ length: 25 }, (_, index) => `page-${24 - index}`));
    expect(third.next).toBeUndefined();
    const failed = await reader.requests(admin, { outcome: 'failed', key: 'k1' }, 10);
    expect(failed.requests).toHaveLength(5);
  });

  it('are bounded in number and age', async () => {
    const { ledger, redis, prefix } = await open({ maxRequests: 200, requestsKeptMs: day });
    const old = `${Date.now() - 2 * day}-0`;
    for (let index = 0; index < 150; index++)
      await redis.xadd(`${prefix}usage:requests`, `${old.slice(0, -1)}${index}`, 'r', '{}');
    for (let index = 0; index < 1_000; index++) ledger.add(record());
    await ledger.close();
    expect(await redis.xlen(`${prefix}usage:requests`)).toBeLessThan(350);
    expect(await redis.xrange(`${prefix}usage:requests`, old, `${Date.now() - day}`)).toEqual([]);
  });

  it('can all be read from a time to a time', async () => {
    const { ledger, reader } = await open();
    const now = Date.now();
    for (let index = 0; index < 1_200; index++) ledger.add(record({ at: now + index }));
    await ledger.close();
    const read: number[] = [];
    for await (const { at } of reader.export(admin, {}, now + 100, now + 1_100)) read.push(at - now);
    expect(read).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 100));
  });
});

describe('writing', () => {
  it('counts a batch once whose answer was lost', { timeout: 30_000 }, async () => {
    const target = inject('redisUrl');
    const proxy = await startPausableProxy(Number(new URL(target).port));
    onTestFinished(() => proxy.close());
    const { ledger, redis, prefix } = await open({}, `redis://127.0.0.1:${proxy.port}`);
    for (let index = 0; index < 100; index++) ledger.add(record());
    const { reader } = await open({}, target, prefix);
    // Let what is sent through, and nothing back.
    proxy.pauseAnswers();
    await until(async () => (await reader.requests(admin, {}, 200)).requests.length === 100);
    // The writer has waited for an answer as long as it does.
    await until(() => redis.status !== 'ready');
    proxy.resume();
    ledger.add(record({ id: 'after' }));
    await until(async () => (await reader.requests(admin, {}, 1)).requests[0]?.id === 'after');
    const report = await reader.report({ viewer: admin, ...november, step: 'month', by: 'key', filter: {} });
    expect(report.totals.requests).toBe(101);
    expect((await reader.requests(admin, {}, 200)).requests).toHaveLength(101);
  });

  it('writes again what a new primary does not have, and only that', { timeout: 30_000 }, async () => {
    const target = inject('redisUrl');
    const proxy = await startPausableProxy(Number(new URL(target).port));
    onTestFinished(() => proxy.close());
    const { ledger, redis, prefix } = await open({}, `redis://127.0.0.1:${proxy.port}`);
    const { reader, redis: direct } = await open({}, target, prefix);
    const count = async (): Promise<number> => (await reader.requests(admin, {}, 200)).requests.length;
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
    const { requests } = await reader.requests(admin, {}, 200);
    expect(requests.map(({ id }) => id)).toEqual(['later', 'not replicated', 'replicated']);
    const report = await reader.report({ viewer: admin, ...november, step: 'month', by: 'key', filter: {} });
    expect(report.totals.requests).toBe(3);
  });

  it('waits for Redis to come back, and counts what is too much', { timeout: 30_000 }, async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const { ledger, reader } = await open({ maxWaiting: 700 }, redis.url);
    ledger.add(record());
    await until(async () => (await reader.requests(admin, {}, 10)).requests.length === 1);
    await redis.kill();
    for (let index = 0; index < 2_000; index++) ledger.add(record());
    await until(() => ledger.dropped > 0);
    const { dropped } = ledger;
    await redis.restart();
    const written = async (): Promise<number> =>
      (await reader.report({ viewer: admin, ...november, step: 'month', by: 'key', filter: {} })).totals.requests;
    await until(async () => (await written().catch(() => 0)) === 2_001 - dropped);
    expect(dropped).toBeLessThanOrEqual(1_300);
  });
});
