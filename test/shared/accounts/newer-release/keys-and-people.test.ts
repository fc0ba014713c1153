import { beforeEach, expect, it } from 'vitest';
import { createKey, createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { UnreadableRecordError } from '#shared/store/redis/stored-records.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, useKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();
let redis: OpenKeyStore['redis'];
let prefix: string;
beforeEach(() => void ({ prefix, redis } = open));

/** A key of this name, and what its record in Redis is called. */
async function makeKey(name: string) {
  const { rawKey: raw, record } = await createKey(open.store, { kind: 'team', name, class: 'normal' });
  return { raw, id: record.id, at: `${prefix}key:${record.id}` };
}

async function makeOwnedKey(ownerId: string) {
  return made(await createOwnedKey(open.store, { kind: 'user', name: 'mine', class: 'low', ownerId }));
}

const verify = async (raw: string, verifier = new KeyVerifier(open.store)) => verifier.verify(raw);

/** What a newer release might write of a key. */
const ownFields = { class: 'urgent', tiers: '["gpu","quantum"]', addresses: '["10.0.0.0/8"]' };
const newerKey = { ...ownFields, limits: '{"requestsPerMinute":7,"imagesPerDay":3}' };

it('a key of a newer release is read without what this release does not define: the class is normal, and no limit is lost', async () => {
  const { id, raw, at } = await makeKey('new');
  await redis.hset(at, newerKey);
  const read = { class: 'normal', tiers: ['gpu'], limits: { requestsPerMinute: 7 } };
  expect(await open.store.find(id)).toMatchObject(read);
  expect(await open.store.list()).toMatchObject([read]);
  expect(await verify(raw)).toMatchObject({ id, class: 'normal', tiers: ['gpu'] });
  expect(open.unreadable).toEqual([]);
  // It may use no tier when all of its tiers are of the newer release.
  await redis.hset(at, { tiers: '["quantum"]' });
  expect(await verify(raw)).toMatchObject({ tiers: [] });
});

it('a key of a newer release keeps what this release does not define when it is changed', async () => {
  const { id, at } = await makeKey('new');
  await redis.hset(at, newerKey);
  expect(await open.store.change(id, { name: 'renamed', limits: { tokensPerDay: 9 } })).toBe('changed');
  const { limits, ...fields } = await redis.hgetall(at);
  expect(fields).toMatchObject({ name: 'renamed', ...ownFields });
  expect(JSON.parse(limits ?? '')).toEqual({ tokensPerDay: 9, imagesPerDay: 3 });
});

it('a key of a newer release passes everything on to its successor', async () => {
  const ada = await makeAdmin(open);
  const { record } = await makeOwnedKey(ada.id);
  await redis.hset(`${prefix}key:${record.id}`, newerKey);
  const old = made(await open.store.find(record.id));
  const next = made(await rotateKey(open.store, old, { createdBy: ada.id, overlapMs: 1_000 }));
  const { id, hash, start, createdAt } = next.record;
  const passedOn = { ...newerKey, kind: 'user', name: 'mine', ownerId: ada.id, createdBy: ada.id, countedAs: old.id };
  const own = { id, hash, start, firstFour: next.rawKey.slice(-40, -36), lastFour: next.rawKey.slice(-4) };
  expect(await redis.hgetall(`${prefix}key:${id}`)).toEqual({ ...passedOn, ...own, createdAt: String(createdAt) });
  expect(await verify(next.rawKey)).toMatchObject({ id });
});

const garbage: [string, (name: string) => Promise<unknown>][] = [
  ['a limit of another form', (name) => redis.hset(name, 'limits', '{"requestsPerMinute":"hunter2"}')],
  ['no JSON', (name) => redis.hset(name, 'limits', 'hunter2')],
  ['an expiry of another form', (name) => redis.hset(name, 'expiresAt', 'hunter2')],
  ['a field that is gone', (name) => redis.hdel(name, 'hash')],
  ['another type', async (name) => [await redis.del(name), await redis.set(name, 'hunter2')]],
];

it.each(garbage)(
  'a key that cannot be read is left out of lists and reported without its content: %s',
  async (_, spoil) => {
    const [bad, good] = [await makeKey('bad'), await makeKey('good')];
    await spoil(bad.at);
    expect((await open.store.list()).map((key) => key.name)).toEqual(['good']);
    expect(open.unreadable).toEqual([expect.stringContaining(`key ${bad.id}`)]);
    expect(open.unreadable.join()).not.toContain('hunter2');
    await expect(open.store.find(bad.id)).rejects.toThrow(UnreadableRecordError);
    await expect(verify(bad.raw)).rejects.toMatchObject({ code: 'store_unavailable', retryAfter: 2 });
    expect(await verify(good.raw)).toMatchObject({ name: 'good' });
  },
);

it('a key that cannot be read is refused even though it was known before: it may have been revoked', async () => {
  const { raw, at } = await makeKey('known');
  const verifier = new KeyVerifier(open.store, { graceMs: 3_600_000 });
  await verifier.verify(raw);
  await redis.hset(at, 'limits', 'hunter2');
  verifier.markStale();
  await expect(verify(raw, verifier)).rejects.toThrow(UnreadableRecordError);
});

it('a key that cannot be read can be revoked', async () => {
  const { id, at } = await makeKey('bad');
  await redis.hset(at, 'limits', 'hunter2');
  expect(await open.store.revoke(id, 1_000)).toBe('revoked');
  expect(await open.store.readName(id)).toBe('bad');
});

it('a key that cannot be read makes no room for a new key of an owner with the maximum of keys', async () => {
  const ada = await makeAdmin(open);
  const { record } = await createKey(open.store, { kind: 'user', name: 'k', class: 'normal' });
  const ids = Array.from({ length: 200 }, (_, index) => `k${String(index).padStart(11, '0')}`);
  for (const id of ids) await open.store.create({ ...record, id, ownerId: ada.id });
  await redis.hset(`${prefix}key:${ids[0]}`, 'expiresAt', 'hunter2');
  expect(await open.store.create({ ...record, id: 'another', ownerId: ada.id })).toBe('too many');
});

it('an owner whose record cannot be read makes only their own keys unusable', async () => {
  const ada = await makeAdmin(open);
  const [mine, other] = [await makeOwnedKey(ada.id), await makeKey('other')];
  await redis.hset(`${prefix}user:${ada.id}`, 'limits', 'hunter2');
  // Both may have been made in the same millisecond.
  const listed = (await open.store.list()).toSorted((one, two) => one.name.localeCompare(two.name));
  expect(listed).toMatchObject([{ name: 'mine', owner: { isBlocked: true } }, { name: 'other' }]);
  await expect(verify(mine.rawKey)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await verify(other.raw)).toMatchObject({ name: 'other' });
});

it('a person of a newer release has the lowest role in place of one that this release does not define, and keeps the stored one when blocked', async () => {
  const ada = await makeAdmin(open);
  const { users } = open.accounts;
  await redis.hset(`${prefix}user:${ada.id}`, { role: 'auditor', locale: 'de' });
  expect(await users.find(ada.id)).toMatchObject({ role: 'member', name: 'Ada' });
  expect(await users.list()).toMatchObject([{ role: 'member' }]);
  await redis.sadd(`${prefix}admins`, 'somebody else');
  expect(await users.change(ada.id, { blocked: true, limits: { costPerDay: 1 } }, 5)).toMatchObject({ name: 'Ada' });
  const stored = { role: 'auditor', locale: 'de', blockedAt: '5', limits: '{"costPerDay":1}' };
  expect(await redis.hgetall(`${prefix}user:${ada.id}`)).toMatchObject(stored);
});

it('a person of a newer release gets the role that the invitation names, even if this release does not define it', async () => {
  const ada = await makeAdmin(open);
  const { invitations, links, users } = open.accounts;
  const asked = { email: 'b@example.com', role: 'member', invitedBy: ada.id, usableMs: 60_000 } as const;
  const { token, invitation } = made(await invitations.create(asked));
  await redis.hset(`${prefix}invitation:${invitation.id}`, { role: 'auditor', note: 'hello' });
  expect(await invitations.list()).toMatchObject([{ role: 'member', email: 'b@example.com' }]);
  const link = await links.find(token);
  if (link?.kind !== 'invitation') throw new Error('the link is gone');
  const { id } = made(await links.acceptInvitation(token, link.invitation, { name: 'Bob', passwordHash: '$' }, {}));
  expect(await redis.hget(`${prefix}user:${id}`, 'role')).toBe('auditor');
  expect(await users.find(id)).toMatchObject({ role: 'member' });
});

it('a person of a newer release who cannot be read is left out of lists, and fails alone', async () => {
  const ada = await makeAdmin(open);
  const { users, sessions, links } = open.accounts;
  const session = (await sessions.open(ada)) ?? '';
  await redis.zadd(`${prefix}users`, 1, 'bad');
  await redis.hset(`${prefix}user:bad`, { id: 'bad', epoch: 'hunter2' });
  expect((await users.list()).map(({ id }) => id)).toEqual([ada.id]);
  await expect(users.find('bad')).rejects.toThrow('user bad');
  expect(await sessions.find(session)).toMatchObject({ id: ada.id });
  expect(await links.find(await links.issuePassword(ada.id))).toMatchObject({ kind: 'password' });
  expect(open.unreadable.join()).not.toContain('hunter2');
});

it('a team of a newer release is read, changed and listed without what this release does not define', async () => {
  const ada = await makeAdmin(open);
  const { teams } = open.accounts;
  const [team, bad] = [await teams.create('Blue'), await teams.create('Bad')];
  await redis.hset(`${prefix}team:${team.id}`, { colour: 'blue', limits: '{"costPerDay":1,"imagesPerDay":3}' });
  await redis.hset(`${prefix}team:${bad.id}`, 'createdAt', 'hunter2');
  await redis.hset(`${prefix}members-of:${team.id}`, ada.id, 'billing');
  expect(await teams.list()).toMatchObject([{ name: 'Blue', limits: { costPerDay: 1 } }]);
  expect(await teams.membersOf(team.id)).toEqual(new Map([[ada.id, 'member']]));
  expect(await teams.change(team.id, { limits: {} })).toBe('changed');
  const stored = { colour: 'blue', limits: '{"imagesPerDay":3}' };
  expect(await redis.hgetall(`${prefix}team:${team.id}`)).toMatchObject(stored);
  expect(await teams.setMember(team.id, ada.id, 'owner')).toBe('member');
  await expect(teams.find(bad.id)).rejects.toThrow(UnreadableRecordError);
});

it('an invitation that cannot be read is left out of the list', async () => {
  await redis.zadd(`${prefix}invitations`, Date.now() + 60_000, 'bad');
  await redis.hset(`${prefix}invitation:bad`, { id: 'bad', email: 'hunter2' });
  expect(await open.accounts.invitations.list()).toEqual([]);
  expect(open.unreadable).toEqual([expect.stringContaining('invitation bad: createdAt')]);
});

it('a session of a newer release stands; one that cannot be read has ended', async () => {
  const ada = await makeAdmin(open);
  const { sessions } = open.accounts;
  const [newer, bad] = [(await sessions.open(ada)) ?? '', (await sessions.open(ada)) ?? ''];
  const [badName = '', newerName = ''] = await redis.lrange(`${prefix}sessions-of:${ada.id}`, 0, -1);
  await redis.hset(`${prefix}session:${newerName}`, 'device', 'phone');
  await redis.hset(`${prefix}session:${badName}`, 'startedAt', 'hunter2');
  expect(await sessions.find(newer)).toMatchObject({ id: ada.id });
  expect(await sessions.find(bad)).toBeUndefined();
  expect(await sessions.isOpen(bad)).toBe(false);
  expect(open.unreadable).toEqual(Array(2).fill('a session: startedAt: invalid_type'));
});

it('the settings of a newer release hold as far as they can be read; in doubt members make no keys, and a second factor is needed', async () => {
  const { settings } = open.accounts;
  const words = { invitationDays: 'P7D', membersMakeKeys: 'ask', requireSecondFactor: 'some', newMembers: 'many' };
  const emails = { alertEmails: '{"router":"everybody"}' };
  await redis.hset(`${prefix}console-settings`, { sessionHours: 8, ...words, ...emails, theme: 'x' });
  const times = { sessionHours: 8, invitationDays: 7, auditDays: 400 };
  const doubts = { membersMakeKeys: false, requireSecondFactor: true, newMembers: { limits: {}, ceiling: {} } };
  expect(await settings.read()).toEqual({ ...times, ...doubts, alertEmails: { router: true } });
  expect(open.unreadable).toHaveLength(5);
  await settings.change({ sessionHours: 9 });
  expect(await redis.hgetall(`${prefix}console-settings`)).toMatchObject({ invitationDays: 'P7D', theme: 'x' });
});
