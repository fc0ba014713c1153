import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RefusalLedger } from '#shared/accounts/ledger/refusals/refusal-ledger.ts';
import { RefusalReader, type RefusalQuery } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import { type Refusal, RefusalSampler } from '#shared/accounts/ledger/refusals/refusal-sampler.ts';
import type { RefusedKey } from '#shared/accounts/keys/invalid-key-error.ts';
import type { UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { silentLog as log } from '../../../../helpers/silent-log.ts';
import { openKeyStore, type OpenKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { admin, member } from '../../../../helpers/accounts/open-ledger.ts';
import { openThroughProxy } from '../../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../../helpers/until.ts';

const hour = 3_600_000;
const laptop: RefusedKey = { id: 'k1', kind: 'user', name: 'laptop', ownerId: 'ada' };
const ofTeam: RefusedKey = { id: 'k2', kind: 'team', name: 'ci', ownerId: 'crew' };
const router: RefusedKey = { id: 'k3', kind: 'router', name: 'old', ownerId: undefined };

async function open(of?: OpenKeyStore) {
  const { redis, prefix } = of ?? (await openKeyStore());
  const ledger = new RefusalLedger(redis, prefix, log);
  onTestFinished(() => ledger.close());
  /** Writes refusals, as one process does from its start to its end. */
  const write = async (...refusals: Refusal[]): Promise<void> => {
    const writer = new RefusalLedger(redis, prefix, log);
    for (const each of refusals) writer.add(each);
    await writer.close();
  };
  const reader = new RefusalReader(redis, prefix);
  const total = async (change: Partial<RefusalQuery> = {}) => (await reader.readReport(lately(change))).total;
  return { ledger, write, redis, prefix, reader, total };
}

function refusal(code: ErrorCode, key?: RefusedKey, fields: Partial<Refusal> = {}): Refusal {
  return { requestId: 'req_1', error: new RouterError(code, 'Why.'), key, asked: undefined, ...fields };
}

function lately(change: Partial<RefusalQuery> = {}): RefusalQuery {
  const now = Date.now();
  return { viewer: admin, from: now - hour, to: now + 1, step: 'day', by: 'code', filter: {}, ...change };
}

describe('refusals', () => {
  it('are counted by code, key and owner, in the hour and the day', async () => {
    const { write, reader, total, redis, prefix } = await open();
    const limited = refusal('rate_limit_exceeded', laptop);
    const denied = refusal('permission_denied', ofTeam);
    await write(limited, limited, denied, refusal('invalid_api_key', router), refusal('invalid_api_key'));
    for (const step of ['hour', 'day', 'month'] as const) {
      expect(await total({ step })).toBe(5);
      expect((await reader.readReport(lately({ step }))).groups).toMatchObject([
        { id: 'rate_limit_exceeded', count: 2, rows: [{ key: 'k1', user: 'ada', team: '', count: 2 }] },
        { id: 'invalid_api_key', count: 2 },
        { id: 'permission_denied', count: 1, rows: [{ key: 'k2', user: '', team: 'crew', count: 1 }] },
      ]);
    }
    const byKey = await reader.readReport(lately({ by: 'key' }));
    const counts = Object.fromEntries(byKey.groups.map(({ id, count }) => [id, count]));
    expect(counts).toEqual({ k1: 2, k2: 1, k3: 1, '': 1 });
    expect(await total({ filter: { user: 'ada' } })).toBe(2);
    expect(await redis.hgetall(`${prefix}usage:key-names`)).toEqual({ k1: 'laptop', k2: 'ci', k3: 'old' });
  });

  it('are seen by administrators, and by members where they or a team of theirs own the key', async () => {
    const { write, reader, total } = await open();
    await write(...[laptop, ofTeam, router, undefined].map((key) => refusal('permission_denied', key)));
    const seenBy = async (viewer: UsageViewer) => {
      const samples = await reader.listSamples(lately({ viewer }));
      return [await total({ viewer }), samples.map(({ key }) => key)];
    };
    expect(await seenBy(admin)).toEqual([4, expect.arrayContaining(['k1', 'k2', 'k3', undefined])]);
    expect(await seenBy(member('ada'))).toEqual([1, ['k1']]);
    expect(await seenBy(member('bob', 'crew'))).toEqual([1, ['k2']]);
    expect(await seenBy(member('eve'))).toEqual([0, []]);
  });

  it('are sampled once a minute for each key and code', async () => {
    const { write, reader } = await open();
    const spent = (at: number) => refusal('insufficient_quota', laptop, { requestId: `r${at}`, asked: 'demo' });
    await write(...Array.from({ length: 50 }, (_, at) => spent(at)), refusal('overloaded', laptop));
    const samples = await reader.listSamples(lately());
    const common = { at: expect.any(Number), key: 'k1', owner: { kind: 'user', id: 'ada' }, message: 'Why.' };
    expect(samples.toSorted((a, b) => a.code.localeCompare(b.code))).toEqual([
      { ...common, id: 'r0', code: 'insufficient_quota', status: 429, model: 'demo' },
      { ...common, id: 'req_1', code: 'overloaded', status: 503 },
    ]);
  });

  it('are kept without any content of the request', async () => {
    const { write, reader, redis, prefix } = await open();
    const secret = 'zebra diary';
    const codes = ['invalid_request', 'invalid_value', 'not_found', 'model_not_found', 'permission_denied'] as const;
    const telling = (code: ErrorCode) =>
      refusal(code, laptop, { error: new RouterError(code, `Not ${secret}.`), asked: secret });
    const byUpstream = new RouterError('overloaded', secret, { byUpstream: true });
    await write(...codes.map(telling), refusal('overloaded', laptop, { error: byUpstream }));
    const samples = await reader.listSamples(lately());
    expect(samples).toHaveLength(6);
    for (const sample of samples) expect([sample.message, sample.model]).toEqual([undefined, undefined]);
    const stored = await redis.xrange(`${prefix}usage:refusals:samples-of-keys`, '-', '+');
    expect(JSON.stringify(stored)).not.toContain('zebra');
  });

  it('of requests without a known key do not displace the samples of others', async () => {
    const { write, reader, redis, prefix } = await open();
    await write(refusal('permission_denied', laptop));
    const nobody = JSON.stringify({ at: Date.now(), id: 'r', code: 'missing_key', status: 401 });
    const stream = `${prefix}usage:refusals:samples-of-nobody`;
    for (let count = 0; count < 300; count += 1) await redis.xadd(stream, '*', 'r', nobody);
    await write(refusal('missing_key'));
    expect(await redis.xlen(stream)).toBe(50);
    expect((await reader.listSamples(lately())).filter(({ key }) => key === 'k1')).toHaveLength(1);
  });

  it('expire: hours after eight days, days after ninety', async () => {
    const { write, redis, prefix } = await open();
    await write(refusal('permission_denied', laptop));
    const now = new Date().toISOString();
    const days = async (period: string): Promise<number> =>
      Math.ceil((await redis.pttl(`${prefix}usage:refusals:${period}`)) / (24 * hour));
    expect([await days(now.slice(0, 13)), await days(now.slice(0, 10))]).toEqual([8, 90]);
    expect(await days('samples-of-keys')).toBe(30);
  });
});

it('a hundred thousand refusals without a known key take one row for each code, in memory and in Redis', async () => {
  const { ledger, redis, prefix } = await open();
  const refusals = [refusal('invalid_api_key'), refusal('missing_key')];
  for (let count = 0; count < 50_000; count += 1)
    for (const each of refusals) ledger.add({ ...each, requestId: randomUUID() });
  expect(ledger.backlog).toBe(2);
  await ledger.close();
  const day = new Date().toISOString().slice(0, 10);
  expect(Object.values(await redis.hgetall(`${prefix}usage:refusals:${day}`))).toEqual(['50000', '50000']);
});

it('a hundred thousand refusals of as many keys take a bounded number of rows, and all are counted', async () => {
  const { ledger, write, reader, redis, prefix } = await open();
  let most = 0;
  const limited = refusal('rate_limit_exceeded');
  const some = () => Array.from({ length: 1_000 }, () => ({ ...limited, key: { ...laptop, id: randomUUID() } }));
  for (let round = 0; round < 100; round += 1) {
    for (const each of some()) ledger.add(each);
    most = Math.max(most, ledger.backlog);
  }
  expect(most).toBeLessThanOrEqual(1_001);
  await ledger.close();
  for (let writer = 0; writer < 4; writer += 1) await write(...some());
  const { groups, total } = await reader.readReport(lately());
  expect(total).toBe(104_000);
  expect(groups[0]?.rows.find(({ key }) => key === 'other')?.count).toBeGreaterThan(99_000);
  const now = new Date().toISOString();
  expect(await redis.hlen(`${prefix}usage:refusals:${now.slice(0, 13)}`)).toBeLessThanOrEqual(1_001);
  expect(await redis.hlen(`${prefix}usage:refusals:${now.slice(0, 10)}`)).toBeLessThanOrEqual(2_001);
  expect(await redis.hlen(`${prefix}usage:key-names`)).toBeLessThanOrEqual(2_000);
  const sampler = new RefusalSampler();
  for (const each of some()) sampler.add(each, 0);
  expect(sampler.take()).toHaveLength(50);
});

it('a batch of refusals is counted once even if the reply was lost, and memory is bounded until Redis is back', async () => {
  const { proxy, behind, direct } = await openThroughProxy();
  const { ledger } = await open(behind);
  const { total } = await open(direct);
  ledger.add(refusal('rate_limit_exceeded', laptop));
  // Let requests through, and no replies.
  proxy.pauseAnswers();
  await until(async () => (await total()) === 1);
  proxy.cut();
  for (let at = 0; at < 20_000; at += 1) ledger.add(refusal('rate_limit_exceeded', { ...laptop, id: `x${at}` }));
  expect(ledger.backlog).toBe(1_001);
  proxy.resume();
  await until(async () => (await total()) === 20_001);
  await ledger.close();
  expect(await total()).toBe(20_001);
});
