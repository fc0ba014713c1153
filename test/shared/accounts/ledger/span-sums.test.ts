import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { maxSpanFields, maxSpanOwners } from '#shared/accounts/ledger/span-sums.ts';
import type { UsageSpan } from '#shared/accounts/ledger/span-reader.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { startPausableProxy } from '../../../helpers/servers/pausable-proxy.ts';
import { until } from '../../../helpers/until.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';

const hour = 3_600_000;
const admin: UsageViewer = { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] };
const ada: UsageViewer = { userId: 'ada', isAdmin: false, keyIds: [], teamIds: ['t1'] };
const log = createLog({ service: 'test', level: 'silent', format: 'json' });
const bounds = { maxRequests: 10_000, requestsKeptMs: 24 * hour };

async function open(records: readonly UsageRecord[]) {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  const { redis } = connection;
  const ledger = new UsageLedger(redis, prefix, log, bounds);
  for (const record of records) ledger.add(record);
  await ledger.close();
  const reader = new UsageReader(redis, prefix);
  const read = (span: UsageSpan, viewer = admin) => reader.overview(viewer, span, 10);
  return { redis, prefix, read };
}

const team = { owner: { kind: 'team', id: 't1' }, key: { id: 'k2', name: 'ci' } } as const;

describe('the sums of a span', () => {
  it('have the requests that began in it, by step, with their times and the things with the most of them', async () => {
    const now = Date.now();
    const { read } = await open([
      ledgerRecord({ at: now, firstTokenMs: 20, totalMs: 100 }),
      ledgerRecord({ at: now, firstTokenMs: 20, totalMs: 100, outcome: 'failed', code: 'worker_lost', cost: 0 }),
      ledgerRecord({ at: now - 3 * hour, model: 'm2', worker: 'w2', firstTokenMs: 200, totalMs: 4_000, ...team }),
      ledgerRecord({ at: now - 30 * hour, model: 'm2', worker: 'w2', outcome: 'cancelled', firstTokenMs: undefined }),
      ledgerRecord({ at: now - 200 * hour }),
    ]);
    const [minutes, today, week] = [await read('1h'), await read('24h'), await read('7d')];
    expect([minutes, today, week].map(({ times }) => times.length)).toEqual([12, 24, 168]);
    expect([minutes, today, week].map(({ stepMs }) => stepMs)).toEqual([hour / 12, hour, hour]);
    expect(minutes.totals).toMatchObject({
      requests: 2,
      failed: 1,
      promptTokens: 20,
      completionTokens: 10,
      cost: 1_000,
    });
    expect(minutes.steps.at(-1)).toMatchObject({ requests: 2 });
    expect(today.totals).toMatchObject({ requests: 3, failed: 1, cancelled: 0 });
    expect(today.steps.at(-4)).toMatchObject({ requests: 1, cost: 1_000 });
    expect(week.totals).toMatchObject({ requests: 4, cancelled: 1 });
    // Classes are a fifth wide.
    expect(Math.abs((minutes.firstTokenMs?.p50 ?? 0) - 20)).toBeLessThan(4);
    expect(Math.abs((today.totalMs?.p95 ?? 0) - 4_000)).toBeLessThan(800);
    expect(today.top.model.map(({ id, requests, failed }) => [id, requests, failed])).toEqual([
      ['m1', 2, 1],
      ['m2', 1, 0],
    ]);
    expect(today.top.key.map(({ id, user, team: of, requests }) => [id, user, of, requests])).toEqual([
      ['k1', 'ada', '', 2],
      ['k2', '', 't1', 1],
    ]);
    // Of as many requests, those that cost more come first.
    expect(week.top.worker.map(({ id, requests }) => [id, requests])).toEqual([
      ['w2', 2],
      ['w1', 2],
    ]);
  });

  it('are of what a viewer may see: the own, those of the own teams, everything for an administrator', async () => {
    const { read } = await open([
      ledgerRecord({}),
      ledgerRecord({ ...team, model: 'm2', worker: 'w2' }),
      ledgerRecord({
        owner: { kind: 'user', id: 'eve' },
        key: { id: 'k3', name: 'eve' },
        model: 'secret',
        worker: 'w9',
      }),
      ledgerRecord({ owner: undefined, key: { id: 'k4', name: 'router' } }),
    ]);
    const all = await read('24h');
    expect(all.totals.requests).toBe(4);
    const own = await read('24h', ada);
    expect(own.totals.requests).toBe(2);
    expect(own.top.key.map(({ id }) => id).toSorted()).toEqual(['k1', 'k2']);
    expect(JSON.stringify(own)).not.toMatch(/secret|w9|eve|k4/);
    const stranger = await read('24h', { userId: 'x', isAdmin: false, keyIds: [], teamIds: [] });
    expect([stranger.totals.requests, stranger.top, stranger.totalMs]).toEqual([
      0,
      { model: [], key: [], worker: [] },
      undefined,
    ]);
  });

  it('count a batch once that is sent twice', async () => {
    const target = inject('redisUrl');
    const proxy = await startPausableProxy(Number(new URL(target).port));
    onTestFinished(() => proxy.close());
    const { connection, prefix } = await openKeyStore(`redis://127.0.0.1:${proxy.port}`);
    const ledger = new UsageLedger(connection.redis, prefix, log, bounds);
    onTestFinished(() => ledger.close());
    for (let index = 0; index < 100; index += 1) ledger.add(ledgerRecord({ id: 'again' }));
    const direct = await openKeyStore(target, prefix);
    const reader = new UsageReader(direct.connection.redis, prefix);
    proxy.pauseAnswers();
    await until(async () => (await reader.overview(admin, '1h', 1)).totals.requests === 100, 5_000);
    // The connection breaks and comes back: the batch is sent again.
    proxy.cut();
    proxy.resume();
    ledger.add(ledgerRecord({ id: 'later' }));
    await until(async () => (await reader.byId(admin, 'later')).length === 1, 10_000);
    expect((await reader.overview(admin, '1h', 1)).totals.requests).toBe(101);
    expect(await reader.byId(admin, 'again')).toHaveLength(8);
  }, 30_000);

  it('are bounded: further models, keys and workers are counted together, further owners in the sums of all', async () => {
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
    // A batch at the turn of an hour has two.
    expect(hours.length).toBeLessThanOrEqual(2 * (maxSpanOwners + 1));
    for (const name of hours) {
      const most = name.includes(':user:') ? maxSpanFields.owner : maxSpanFields.everybody;
      // What is counted of each request as a whole, and a last row.
      expect(await redis.hlen(name)).toBeLessThan(most + 40);
      expect(await redis.pttl(name)).toBeGreaterThan(7 * 24 * hour);
      expect(await redis.pttl(name)).toBeLessThanOrEqual(8 * 24 * hour);
    }
    for (const name of await redis.keys(`${prefix}usage:spans:minutes:*`))
      expect(await redis.pttl(name)).toBeLessThanOrEqual(2 * hour);
  });
});
