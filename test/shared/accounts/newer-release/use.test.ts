import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { logUnreadable } from '#shared/store/redis/stored-records.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { admin } from '../../../helpers/accounts/open-ledger.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { keyWith, nothing, openLimitKeeper } from '../../../helpers/accounts/open-limit-keeper.ts';

const open = useKeyStore();

it('the price of a newer release holds, and keeps what this release does not define; one that cannot be read is left out', async () => {
  const { redis, prefix } = open;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, new Writable({ write: (line, _, done) => (lines.push(String(line)), done()) }));
  const prices = new PriceTable({ redis, prefix, log, registeredPrices: () => ({}), announce: async () => undefined });
  onTestFinished(() => prices.close());
  const price = { input: 1, output: 2, asOf: '2026-11-01' };
  const m = JSON.stringify({ ...price, frame: 3 });
  await redis.hset(`${prefix}prices`, { m, bad: 'hunter2', free: '{"input":"0"}' });
  for (let time = 0; time < 2; time++) await prices.refresh();
  expect(prices.findChanged('m')).toEqual(price);
  expect(prices.priceOf('gpu', 'bad')).toBeUndefined();
  await prices.change('m', { ...price, input: 5 });
  expect(JSON.parse((await redis.hget(`${prefix}prices`, 'm')) ?? '')).toEqual({ ...price, input: 5, frame: 3 });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ record: 'price bad' }, { record: 'price free' }]);
  expect(lines.join()).not.toContain('hunter2');
});

it('use that a newer release has written down is listed and exported, in words that this release has', async () => {
  const { redis, prefix } = open;
  const record = ledgerRecord({ id: 'r1', at: Date.UTC(2026, 10, 21) });
  const key = { ...record.key, colour: 'blue' };
  const newer = { ...record, key, outcome: 'refused', tier: 'quantum', region: 'eu' };
  for (const entry of ['hunter2', JSON.stringify(newer), '{"id":"hunter2"}', '[]'])
    await redis.xadd(`${prefix}usage:requests`, '*', 'r', entry);
  const reader = new UsageReader(redis, prefix, open.noteUnreadable);
  const { requests } = await reader.listRequests(admin, {}, 10);
  expect(requests).toMatchObject([{ id: 'r1', outcome: 'failed' }]);
  expect(requests[0]?.tier).toBeUndefined();
  const exported = [];
  for await (const each of reader.export(admin, {}, 0, Date.UTC(2027, 0, 1))) exported.push(each.id);
  expect(exported).toEqual(['r1']);
  expect(open.unreadable).toHaveLength(6);
  expect(open.unreadable.join()).not.toContain('hunter2');
});

it('use that a newer release has written down is summed up where rows and counts are new', async () => {
  const { redis, prefix } = open;
  await redis.hset(`${prefix}usage:2026-11-21`, {
    'n["k1","u1","","gpu","m1"]': 1,
    'n["k1","u1","","gpu","m1","project"]': 2,
    'w["k1","u1","","gpu","m1"]': 9,
    nhunter2: 4,
    'n["k2","","","gpu","m1"]': 'hunter2',
  });
  const reader = new UsageReader(redis, prefix);
  const range = { from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 10, 22) };
  const report = await reader.readReport({ viewer: admin, ...range, step: 'day', by: 'key', filter: {} });
  expect(report.totals.requests).toBe(3);
});

it.each([
  ['a newer release has left fields out', { parties: 'key:k1' }],
  ['counts are no numbers', { tokens: 'x', cost: 'y', day: '1', month: '2026-11', parties: 'key:k1' }],
])('a reservation that cannot be read does not keep others from expiring: %s', async (_, fields) => {
  const { keeper, reserve, use, ids, expire, redis, prefix } = await openLimitKeeper();
  const party = keyWith({ concurrentRequests: 1 });
  await reserve([party]);
  await redis.hset(`${prefix}limit:reservation:bad`, fields);
  await redis.set(`${prefix}limit:reservation:worse`, 'no hash');
  await redis.zadd(`${prefix}limit:reservations`, 1, 'bad', 2, 'worse');
  await expire(...(await ids()));
  expect((await keeper.reserve([party], nothing)).granted).toBe(true);
  expect(await use(party)).toMatchObject({ active: 1 });
  expect(await ids()).toHaveLength(1);
});

it('the log names a record once in a while, and a hundred at most', () => {
  const lines: object[] = [];
  const report = logUnreadable({ error: (facts: object) => void lines.push(facts) } as never);
  for (let index = 0; index < 500; index++) {
    report('key a', 'limits: invalid_type');
    report(`key ${index}`, 'limits: invalid_type');
  }
  expect(lines).toHaveLength(100);
  expect(lines[0]).toEqual({ record: 'key a', reason: 'limits: invalid_type' });
});
