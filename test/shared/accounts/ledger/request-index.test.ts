import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { createLog } from '#shared/core/log.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';

const day = 86_400_000;
const admin = { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] };
const ada = { userId: 'ada', isAdmin: false, keyIds: [], teamIds: ['t1'] };
const eve = { userId: 'eve', isAdmin: false, keyIds: [], teamIds: [] };
const log = createLog({ service: 'test', level: 'silent', format: 'json' });

async function open(maxRequests = 10_000) {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  const { redis } = connection;
  const ledger = new UsageLedger(redis, prefix, log, { maxRequests, requestsKeptMs: 30 * day });
  onTestFinished(() => ledger.close());
  const reader = new UsageReader(redis, prefix);
  const find = async (id: string, viewer: Parameters<UsageReader['byId']>[0] = admin): Promise<number[]> =>
    (await reader.byId(viewer, id)).map(({ completionTokens }) => completionTokens);
  return { ledger, redis, prefix, reader, find };
}

const of = (user: string): Pick<UsageRecord, 'owner'> => ({ owner: { kind: 'user', id: user } });

describe('a request', () => {
  it('is found by its id, also behind the newest pages, and with it all others of the same id, newest first', async () => {
    const { ledger, find } = await open();
    ledger.add(ledgerRecord({ id: 'turns', completionTokens: 1 }));
    ledger.add(ledgerRecord({ id: 'one', completionTokens: 2 }));
    for (let index = 0; index < 1_200; index += 1) ledger.add(ledgerRecord({}));
    ledger.add(ledgerRecord({ id: 'turns', completionTokens: 3 }));
    await ledger.close();
    expect(await find('one')).toEqual([2]);
    expect(await find('turns')).toEqual([3, 1]);
    expect(await find('none')).toEqual([]);
    expect(await find('on')).toEqual([]);
  });

  it('is found by those who may see it: its owner, the members of its team, administrators', async () => {
    const { ledger, find } = await open();
    ledger.add(ledgerRecord({ id: 'shared', completionTokens: 1, ...of('ada') }));
    ledger.add(ledgerRecord({ id: 'shared', completionTokens: 2, ...of('eve') }));
    ledger.add(ledgerRecord({ id: 'team', completionTokens: 3, owner: { kind: 'team', id: 't1' } }));
    ledger.add(ledgerRecord({ id: 'router', completionTokens: 4, owner: undefined }));
    await ledger.close();
    expect([await find('shared', ada), await find('team', ada), await find('router', ada)]).toEqual([[1], [3], []]);
    expect([await find('shared', eve), await find('team', eve)]).toEqual([[2], []]);
    expect([await find('shared'), await find('team'), await find('router')]).toEqual([[2, 1], [3], [4]]);
  });

  it('is found however often somebody else uses its id', async () => {
    const { ledger, find } = await open();
    ledger.add(ledgerRecord({ id: 'same', completionTokens: 1, ...of('ada') }));
    for (let index = 0; index < 200; index += 1)
      ledger.add(ledgerRecord({ id: 'same', completionTokens: 100 + index, ...of('eve') }));
    await ledger.close();
    expect(await find('same', ada)).toEqual([1]);
    expect(await find('same', eve)).toEqual([299, 298, 297, 296, 295, 294, 293, 292]);
  });
});

describe('the index of ids', () => {
  it('holds about as many as there are single requests, and all of these', async () => {
    const { redis, prefix, reader, find } = await open(800);
    // One batch each.
    for (let round = 0; round < 30; round += 1) {
      const ledger = new UsageLedger(redis, prefix, log, { maxRequests: 800, requestsKeptMs: 30 * day });
      for (let index = 0; index < 100; index += 1) ledger.add(ledgerRecord({ id: `r${round}-${index}` }));
      await ledger.close();
    }
    const names = (await redis.keys(`${prefix}usage:ids:*`)).toSorted();
    expect(names.length).toBeLessThanOrEqual(9);
    const sizes = await Promise.all(names.map((name) => redis.hlen(name)));
    const sum = sizes.reduce((all, size) => all + size, 0);
    expect(sum).toBeGreaterThanOrEqual(800);
    expect(sum).toBeLessThanOrEqual(1_800);
    const { requests } = await reader.requests(admin, {}, 200);
    const oldest = (await reader.requests(admin, {}, 800)).requests.at(-1);
    for (const each of [requests[0], requests.at(-1), oldest]) expect(await find(each?.id ?? '')).toHaveLength(1);
    expect(await find('r0-0')).toEqual([]);
    for (const name of [`${prefix}usage:ids`, ...names])
      expect(Math.abs((await redis.pttl(name)) - 30 * day)).toBeLessThan(day);
  });
});
