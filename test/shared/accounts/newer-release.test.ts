import type { Redis } from 'ioredis';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createKey, createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { logUnreadable, UnreadableRecordError } from '#shared/accounts/redis/stored-records.ts';
import { openKeyStore, type OpenKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { keyWith, nothing, openLimitKeeper } from '../../helpers/accounts/open-limit-keeper.ts';

let open: OpenKeyStore;
let redis: Redis;
let prefix: string;
beforeEach(async () => {
  open = await openKeyStore(inject('redisUrl'));
  ({ prefix } = open);
  ({ redis } = open.connection);
});

const person = { name: 'Ada', email: 'ada@example.com', passwordHash: '$argon2id$none' };

async function makePerson() {
  const { links } = open.accounts;
  const ada = await links.createFirstAdmin((await links.issueFirstAdmin()) ?? '', person);
  if (typeof ada === 'string') throw new Error(ada);
  return ada;
}

/** A key of each of these names. */
function makeKeys(...names: string[]) {
  return Promise.all(names.map((name) => createKey(open.store, { kind: 'team', name, class: 'normal' })));
}

/** What a newer release might write of a key. */
const newerKey = {
  class: 'urgent',
  tiers: '["gpu","quantum"]',
  limits: '{"requestsPerMinute":7,"imagesPerDay":3}',
  addresses: '["10.0.0.0/8"]',
};

describe('a key of a newer release', () => {
  it('is read without what this release does not know: the class is normal, and no limit is lost', async () => {
    const [key] = await makeKeys('new');
    const id = key?.record.id ?? '';
    await redis.hset(`${prefix}key:${id}`, newerKey);
    const read = { class: 'normal', tiers: ['gpu'], limits: { requestsPerMinute: 7 } };
    expect(await open.store.find(id)).toMatchObject(read);
    expect(await open.store.list()).toMatchObject([read]);
    expect(await new KeyVerifier(open.store).verify(key?.raw ?? '')).toMatchObject({
      id,
      class: 'normal',
      tiers: ['gpu'],
    });
    expect(open.unreadable).toEqual([]);
  });

  it('may use no tier when all of its tiers are of the newer release', async () => {
    const [key] = await makeKeys('new');
    await redis.hset(`${prefix}key:${key?.record.id}`, { tiers: '["quantum"]' });
    expect(await new KeyVerifier(open.store).verify(key?.raw ?? '')).toMatchObject({ tiers: [] });
  });

  it('keeps what this release does not know when it is changed', async () => {
    const [key] = await makeKeys('new');
    const id = key?.record.id ?? '';
    await redis.hset(`${prefix}key:${id}`, newerKey);
    expect(await open.store.change(id, { name: 'renamed', limits: { tokensPerDay: 9 } })).toBe('changed');
    const { limits, ...fields } = await redis.hgetall(`${prefix}key:${id}`);
    expect(fields).toMatchObject({
      name: 'renamed',
      class: 'urgent',
      tiers: newerKey.tiers,
      addresses: newerKey.addresses,
    });
    expect(JSON.parse(limits ?? '')).toEqual({ tokensPerDay: 9, imagesPerDay: 3 });
  });

  it('passes everything on to its successor', async () => {
    const ada = await makePerson();
    const made = await createOwnedKey(open.store, { kind: 'user', name: 'new', class: 'low', ownerId: ada.id });
    if (typeof made === 'string') throw new Error(made);
    await redis.hset(`${prefix}key:${made.record.id}`, newerKey);
    const old = await open.store.find(made.record.id);
    if (!old) throw new Error('the key is gone');
    const next = await rotateKey(open.store, old, { createdBy: ada.id, overlapMs: 1_000 });
    if (typeof next === 'string') throw new Error(next);
    expect(await redis.hgetall(`${prefix}key:${next.record.id}`)).toEqual({
      ...newerKey,
      kind: 'user',
      name: 'new',
      ownerId: ada.id,
      createdBy: ada.id,
      id: next.record.id,
      hash: next.record.hash,
      firstFour: next.raw.slice(-40, -36),
      lastFour: next.raw.slice(-4),
      createdAt: String(next.record.createdAt),
    });
    expect(await new KeyVerifier(open.store).verify(next.raw)).toMatchObject({ id: next.record.id });
  });
});

describe('a key that cannot be read', () => {
  const garbage: [string, (name: string) => Promise<unknown>][] = [
    ['a limit of another form', (name) => redis.hset(name, 'limits', '{"requestsPerMinute":"hunter2"}')],
    ['no JSON', (name) => redis.hset(name, 'limits', 'hunter2')],
    ['an expiry of another form', (name) => redis.hset(name, 'expiresAt', 'hunter2')],
    ['a field that is gone', (name) => redis.hdel(name, 'hash')],
    ['another type', async (name) => [await redis.del(name), await redis.set(name, 'hunter2')]],
  ];

  it.each(garbage)('is left out of lists and reported without its content: %s', async (_, spoil) => {
    const [bad, good] = await makeKeys('bad', 'good');
    const name = `key ${bad?.record.id}`;
    await spoil(`${prefix}key:${bad?.record.id}`);
    expect((await open.store.list()).map((key) => key.name)).toEqual(['good']);
    expect(open.unreadable).toEqual([expect.stringContaining(name)]);
    expect(open.unreadable.join()).not.toContain('hunter2');
    await expect(open.store.find(bad?.record.id ?? '')).rejects.toThrow(UnreadableRecordError);
    const verifier = new KeyVerifier(open.store);
    await expect(verifier.verify(bad?.raw ?? '')).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
    expect(await verifier.verify(good?.raw ?? '')).toMatchObject({ name: 'good' });
  });

  it('is refused even though it was known before: it may have been revoked', async () => {
    const [key] = await makeKeys('known');
    const verifier = new KeyVerifier(open.store, { graceMs: 3_600_000 });
    await verifier.verify(key?.raw ?? '');
    await redis.hset(`${prefix}key:${key?.record.id}`, 'limits', 'hunter2');
    verifier.markStale();
    await expect(verifier.verify(key?.raw ?? '')).rejects.toThrow(UnreadableRecordError);
  });

  it('can be revoked', async () => {
    const [key] = await makeKeys('bad');
    const id = key?.record.id ?? '';
    await redis.hset(`${prefix}key:${id}`, 'limits', 'hunter2');
    expect(await open.store.revoke(id, 1_000)).toBe('revoked');
    expect(await open.store.nameOf(id)).toBe('bad');
  });

  it('makes no room for a new one of its owner, who has as many as may be', async () => {
    const ada = await makePerson();
    const { record } = await createKey(open.store, { kind: 'user', name: 'k', class: 'normal' });
    const ids = Array.from({ length: 200 }, (_, index) => `k${String(index).padStart(11, '0')}`);
    for (const id of ids) await open.store.create({ ...record, id, ownerId: ada.id });
    await redis.hset(`${prefix}key:${ids[0]}`, 'expiresAt', 'hunter2');
    expect(await open.store.create({ ...record, id: 'another', ownerId: ada.id })).toBe('too many');
  });
});

describe('the owner of a key', () => {
  it('whose record cannot be read costs the use of the own keys alone', async () => {
    const ada = await makePerson();
    const mine = await createOwnedKey(open.store, { kind: 'user', name: 'mine', class: 'low', ownerId: ada.id });
    const [other] = await makeKeys('other');
    if (typeof mine === 'string') throw new Error(mine);
    await redis.hset(`${prefix}user:${ada.id}`, 'limits', 'hunter2');
    expect(await open.store.list()).toMatchObject([{ name: 'mine', owner: { blocked: true } }, { name: 'other' }]);
    const verifier = new KeyVerifier(open.store);
    await expect(verifier.verify(mine.raw)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await verifier.verify(other?.raw ?? '')).toMatchObject({ name: 'other' });
  });
});

describe('a person of a newer release', () => {
  it('has the least role in place of one that this release does not know, and keeps it when blocked', async () => {
    const ada = await makePerson();
    const { users } = open.accounts;
    await redis.hset(`${prefix}user:${ada.id}`, { role: 'auditor', locale: 'de' });
    expect(await users.find(ada.id)).toMatchObject({ role: 'member', name: 'Ada' });
    expect(await users.list()).toMatchObject([{ role: 'member' }]);
    await redis.sadd(`${prefix}admins`, 'somebody else');
    expect(await users.change(ada.id, { blocked: true, limits: { costPerDay: 1 } }, 5)).toBe('changed');
    const stored = { role: 'auditor', locale: 'de', blockedAt: '5', limits: '{"costPerDay":1}' };
    expect(await redis.hgetall(`${prefix}user:${ada.id}`)).toMatchObject(stored);
  });

  it('gets the role that the invitation names, which this release does not know', async () => {
    const ada = await makePerson();
    const { invitations, links, users } = open.accounts;
    const invited = await invitations.create({ email: 'b@example.com', role: 'member', invitedBy: ada.id, ms: 60_000 });
    if (typeof invited === 'string') throw new Error(invited);
    await redis.hset(`${prefix}invitation:${invited.invitation.id}`, { role: 'auditor', note: 'hello' });
    expect(await invitations.list()).toMatchObject([{ role: 'member', email: 'b@example.com' }]);
    const link = await links.find(invited.token);
    if (link?.kind !== 'invitation') throw new Error('the link is gone');
    const made = await links.acceptInvitation(invited.token, link.invitation, { name: 'Bob', passwordHash: '$' });
    if (typeof made === 'string') throw new Error(made);
    expect(await redis.hget(`${prefix}user:${made.id}`, 'role')).toBe('auditor');
    expect(await users.find(made.id)).toMatchObject({ role: 'member' });
  });

  it('who cannot be read is left out of lists, and fails alone', async () => {
    const ada = await makePerson();
    const { users, sessions, links } = open.accounts;
    const session = (await sessions.open(ada)) ?? '';
    await redis.zadd(`${prefix}users`, 1, 'bad');
    await redis.hset(`${prefix}user:bad`, { id: 'bad', epoch: 'hunter2' });
    expect((await users.list()).map(({ id }) => id)).toEqual([ada.id]);
    await expect(users.find('bad')).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('user bad'),
    });
    expect(await sessions.find(session)).toMatchObject({ id: ada.id });
    const token = await links.issuePassword(ada.id);
    expect(await links.find(token)).toMatchObject({ kind: 'password' });
    expect(open.unreadable.join()).not.toContain('hunter2');
  });
});

describe('a team of a newer release', () => {
  it('is read, changed and listed without what this release does not know', async () => {
    const ada = await makePerson();
    const { teams } = open.accounts;
    const team = await teams.create('Blue');
    const bad = await teams.create('Bad');
    await redis.hset(`${prefix}team:${team.id}`, { colour: 'blue', limits: '{"costPerDay":1,"imagesPerDay":3}' });
    await redis.hset(`${prefix}team:${bad.id}`, 'createdAt', 'hunter2');
    await redis.hset(`${prefix}members-of:${team.id}`, ada.id, 'billing');
    expect(await teams.list()).toMatchObject([{ name: 'Blue', limits: { costPerDay: 1 } }]);
    expect(await teams.membersOf(team.id)).toEqual(new Map([[ada.id, 'member']]));
    expect(await teams.change(team.id, { limits: {} })).toBe(true);
    expect(await redis.hgetall(`${prefix}team:${team.id}`)).toMatchObject({
      colour: 'blue',
      limits: '{"imagesPerDay":3}',
    });
    expect(await teams.setMember(team.id, ada.id, 'owner')).toBe('member');
    await expect(teams.find(bad.id)).rejects.toThrow(UnreadableRecordError);
  });
});

describe('an invitation that cannot be read', () => {
  it('is left out of the list', async () => {
    await redis.zadd(`${prefix}invitations`, Date.now() + 60_000, 'bad');
    await redis.hset(`${prefix}invitation:bad`, { id: 'bad', email: 'hunter2' });
    expect(await open.accounts.invitations.list()).toEqual([]);
    expect(open.unreadable).toEqual([expect.stringContaining('invitation bad: createdAt')]);
  });
});

describe('a session', () => {
  it('of a newer release stands; one that cannot be read has ended', async () => {
    const ada = await makePerson();
    const { sessions } = open.accounts;
    const [newer, bad] = [(await sessions.open(ada)) ?? '', (await sessions.open(ada)) ?? ''];
    const [badName = '', newerName = ''] = await redis.lrange(`${prefix}sessions-of:${ada.id}`, 0, -1);
    await redis.hset(`${prefix}session:${newerName}`, 'device', 'phone');
    await redis.hset(`${prefix}session:${badName}`, 'startedAt', 'hunter2');
    expect(await sessions.find(newer)).toMatchObject({ id: ada.id });
    expect(await sessions.find(bad)).toBeUndefined();
    expect(await sessions.stands(bad)).toBe(false);
    expect(open.unreadable).toEqual(Array(2).fill('a session: startedAt: invalid_type'));
  });
});

describe('the settings of a newer release', () => {
  it('hold as far as they can be read; in doubt members make no keys', async () => {
    const { settings } = open.accounts;
    await redis.hset(`${prefix}console-settings`, {
      sessionHours: 8,
      invitationDays: 'P7D',
      membersMakeKeys: 'ask',
      theme: 'x',
    });
    expect(await settings.read()).toEqual({ sessionHours: 8, invitationDays: 7, membersMakeKeys: false });
    expect(open.unreadable).toHaveLength(2);
    await settings.change({ sessionHours: 9 });
    expect(await redis.hgetall(`${prefix}console-settings`)).toMatchObject({ invitationDays: 'P7D', theme: 'x' });
  });
});

describe('the price of a newer release', () => {
  it('holds, and keeps what this release does not know; one that cannot be read is left out', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, new Writable({ write: (line, _, done) => (lines.push(String(line)), done()) }));
    const prices = new PriceTable({ redis, prefix, log, registered: () => ({}), announce: async () => undefined });
    onTestFinished(() => prices.close());
    const price = { input: 1, output: 2, asOf: '2026-11-01' };
    await redis.hset(`${prefix}prices`, {
      m: JSON.stringify({ ...price, image: 3 }),
      bad: 'hunter2',
      free: '{"input":"0"}',
    });
    await prices.refresh();
    await prices.refresh();
    expect(prices.changed('m')).toEqual(price);
    expect(prices.priceOf('gpu', 'bad')).toBeUndefined();
    await prices.change('m', { ...price, input: 5 });
    expect(JSON.parse((await redis.hget(`${prefix}prices`, 'm')) ?? '')).toEqual({ ...price, input: 5, image: 3 });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ record: 'price bad' }, { record: 'price free' }]);
    expect(lines.join()).not.toContain('hunter2');
  });
});

describe('use that a newer release has written down', () => {
  const admin = { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] };
  const used = { promptTokens: 1, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0, cost: 5 };
  const request = {
    id: 'r1',
    at: Date.UTC(2026, 10, 21),
    key: { id: 'k1', name: 'laptop', colour: 'blue' },
    format: 'chat',
    operation: 'generate',
    asked: 'auto',
    attempts: 1,
    totalMs: 1,
    ...used,
  };

  it('is listed and exported, in words that this release has', async () => {
    const newer = { ...request, outcome: 'refused', tier: 'quantum', region: 'eu' };
    for (const entry of ['hunter2', JSON.stringify(newer), '{"id":"hunter2"}', '[]'])
      await redis.xadd(`${prefix}usage:requests`, '*', 'r', entry);
    const unreadable: string[] = [];
    const reader = new UsageReader(redis, prefix, (record, reason) => unreadable.push(`${record}: ${reason}`));
    const { requests } = await reader.requests(admin, {}, 10);
    expect(requests).toMatchObject([{ id: 'r1', outcome: 'failed' }]);
    expect(requests[0]?.tier).toBeUndefined();
    const exported = [];
    for await (const each of reader.export(admin, {}, 0, Date.UTC(2027, 0, 1))) exported.push(each.id);
    expect(exported).toEqual(['r1']);
    expect(unreadable).toHaveLength(6);
    expect(unreadable.join()).not.toContain('hunter2');
  });

  it('is summed up where rows and counts are new', async () => {
    await redis.hset(`${prefix}usage:2026-11-21`, {
      'n["k1","u1","","gpu","m1"]': 1,
      'n["k1","u1","","gpu","m1","project"]': 2,
      'w["k1","u1","","gpu","m1"]': 9,
      nhunter2: 4,
      'n["k2","","","gpu","m1"]': 'hunter2',
    });
    const reader = new UsageReader(redis, prefix);
    const range = { from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 10, 22) };
    const report = await reader.report({ viewer: admin, ...range, step: 'day', by: 'key', filter: {} });
    expect(report.totals.requests).toBe(3);
  });
});

describe('a reservation that cannot be read', () => {
  it.each([
    ['a newer release has left fields out', { parties: 'key:k1' }],
    ['counts are no numbers', { tokens: 'x', cost: 'y', day: '1', month: '2026-11', parties: 'key:k1' }],
  ])('does not keep others from expiring: %s', async (_, fields) => {
    const {
      keeper,
      reserve,
      use,
      ids,
      expire,
      redis: limitsRedis,
      prefix: at,
    } = await openLimitKeeper(inject('redisUrl'));
    const party = keyWith({ concurrentRequests: 1 });
    await reserve([party]);
    await limitsRedis.hset(`${at}limit:reservation:bad`, fields);
    await limitsRedis.zadd(`${at}limit:reservations`, 1, 'bad');
    await limitsRedis.set(`${at}limit:reservation:worse`, 'no hash');
    await limitsRedis.zadd(`${at}limit:reservations`, 2, 'worse');
    await expire(...(await ids()));
    expect((await keeper.reserve([party], nothing)).granted).toBe(true);
    expect(await use(party)).toMatchObject({ active: 1 });
    expect(await ids()).toHaveLength(1);
  });
});

describe('the log', () => {
  it('names a record once in a while, and a hundred at most', () => {
    const lines: object[] = [];
    const report = logUnreadable({ error: (facts: object) => void lines.push(facts) } as never);
    for (let index = 0; index < 500; index++) {
      report('key a', 'limits: invalid_type');
      report(`key ${index}`, 'limits: invalid_type');
    }
    expect(lines).toHaveLength(100);
    expect(lines[0]).toEqual({ record: 'key a', reason: 'limits: invalid_type' });
  });
});
