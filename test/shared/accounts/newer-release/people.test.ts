import { beforeEach, describe, expect, it } from 'vitest';
import { UnreadableRecordError } from '#shared/accounts/redis/stored-records.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';

let open: OpenKeyStore;
let redis: OpenKeyStore['redis'];
let prefix: string;
beforeEach(async () => {
  open = await openKeyStore();
  ({ prefix, redis } = open);
});

describe('a person of a newer release', () => {
  it('has the least role in place of one that this release does not know, and keeps it when blocked', async () => {
    const ada = await makeAdmin(open);
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
    const ada = await makeAdmin(open);
    const { invitations, links, users } = open.accounts;
    const invited = made(
      await invitations.create({ email: 'b@example.com', role: 'member', invitedBy: ada.id, ms: 60_000 }),
    );
    await redis.hset(`${prefix}invitation:${invited.invitation.id}`, { role: 'auditor', note: 'hello' });
    expect(await invitations.list()).toMatchObject([{ role: 'member', email: 'b@example.com' }]);
    const link = await links.find(invited.token);
    if (link?.kind !== 'invitation') throw new Error('the link is gone');
    const bob = { name: 'Bob', passwordHash: '$' };
    const { id } = made(await links.acceptInvitation(invited.token, link.invitation, bob, {}));
    expect(await redis.hget(`${prefix}user:${id}`, 'role')).toBe('auditor');
    expect(await users.find(id)).toMatchObject({ role: 'member' });
  });

  it('who cannot be read is left out of lists, and fails alone', async () => {
    const ada = await makeAdmin(open);
    const { users, sessions, links } = open.accounts;
    const session = (await sessions.open(ada)) ?? '';
    await redis.zadd(`${prefix}users`, 1, 'bad');
    await redis.hset(`${prefix}user:bad`, { id: 'bad', epoch: 'hunter2' });
    expect((await users.list()).map(({ id }) => id)).toEqual([ada.id]);
    await expect(users.find('bad')).rejects.toThrow('user bad');
    expect(await sessions.find(session)).toMatchObject({ id: ada.id });
    const token = await links.issuePassword(ada.id);
    expect(await links.find(token)).toMatchObject({ kind: 'password' });
    expect(open.unreadable.join()).not.toContain('hunter2');
  });
});

it('a team of a newer release is read, changed and listed without what this release does not know', async () => {
  const ada = await makeAdmin(open);
  const { teams } = open.accounts;
  const team = await teams.create('Blue');
  const bad = await teams.create('Bad');
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
  expect(await sessions.stands(bad)).toBe(false);
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
