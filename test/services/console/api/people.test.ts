import { describe, expect, it, vi } from 'vitest';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { linkPath } from '../../../helpers/console/link-path.ts';
import { openHouse, openTeam, programOf } from '../../../helpers/console/open-console.ts';
import { denied, notFound, refusal, wrongField } from '../../../helpers/console/refusals.ts';

const lastAdmin = refusal(409, 'last_admin');

interface Entry {
  action: string;
  actor: { name: string };
  target: { id: string };
}

describe('people', () => {
  it('are seen and managed by administrators only, without their secrets', async () => {
    const { ada, bob } = await openHouse(['bob']);
    for (const answer of [
      await bob.get('/users'),
      await bob.patch(`/users/${bob.id}`, { role: 'admin' }),
      await bob.patch('/users/000000000000', { role: 'admin' }),
      await bob.post(`/users/${ada.id}/sign-out`),
      await bob.get('/invitations'),
      await bob.post('/invitations', { email: 'x@example.com', role: 'admin' }),
      await bob.get('/audit'),
      await bob.get('/settings'),
      await bob.patch('/settings', { sessionHours: 1 }),
      await bob.post('/teams', { name: 'Mine' }),
    ])
      expect(answer).toMatchObject(denied);
    const { body } = await ada.get('/users');
    expect(body).toEqual([
      expect.objectContaining({ id: ada.id, name: 'Ada', email: 'ada@example.com', role: 'admin', blocked: false }),
      expect.objectContaining({ id: bob.id, role: 'member', limits: {}, weight: 1, lastSeenAt: expect.any(Number) }),
    ]);
    expect(JSON.stringify(body)).not.toContain('argon2');
    expect(await ada.patch('/users/000000000000', { role: 'admin' })).toMatchObject(notFound);
    expect(await ada.post('/users/000000000000/sign-out')).toMatchObject(notFound);
    expect((await ada.post(`/users/${bob.id}/sign-out`)).status).toBe(204);
    expect((await bob.get('/session')).status).toBe(401);
  });

  it('are not reached by a path with a slash at its end, which results from a path with `..`', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const { body: team } = await ada.post('/teams', { name: 'Blue' });
    const ofBob = ['/', '/sessions/..', '/sessions/%2E%2e'].map((end) => `/users/${bob.id}${end}`);
    for (const client of [ada, await programOf(ada, 'admin')])
      for (const path of [...ofBob, `/teams/${team.id}/members/..`])
        expect(await client.delete(path)).toMatchObject(notFound);
    expect((await ada.get('/users')).body).toHaveLength(2);
    expect((await ada.get('/teams')).body).toHaveLength(1);
  });

  it('always include an administrator: the last one cannot be demoted or blocked', async () => {
    const { ada, join } = await openHouse();
    const eve = await join(ada, 'eve@example.com', { role: 'admin' });
    await ada.patch(`/users/${eve.id}`, { blocked: true });
    // A blocked administrator does not count.
    for (const change of [{ role: 'member' }, { blocked: true }])
      expect(await ada.patch(`/users/${ada.id}`, change)).toMatchObject(lastAdmin);
    await ada.patch(`/users/${eve.id}`, { blocked: false });
    expect(await ada.patch(`/users/${ada.id}`, { role: 'member' })).toMatchObject({ status: 200 });
    // It applies from the next request on.
    expect(await ada.get('/users')).toMatchObject(denied);
  });

  it('are changed as a whole or not at all', async () => {
    const { ada, bob, announced } = await openHouse(['bob']);
    const name = 'Renamed';
    const change = { name, role: 'member', weight: 2 };
    expect(await ada.put('/users-by-email/ada@example.com', change)).toMatchObject(lastAdmin);
    const taken = refusal(409, 'email_taken');
    expect(await ada.patch(`/users/${bob.id}/profile`, { name, email: ada.email })).toMatchObject(taken);
    const [first, second] = (await ada.get('/users')).body;
    expect(first).toMatchObject({ name: 'Ada', weight: 1 });
    expect(second).toMatchObject({ name: 'bob', email: 'bob@example.com' });
    const renamed = async () => (await ada.get('/audit?action=user.rename')).body.data;
    expect(await renamed()).toEqual([]);
    expect(await ada.put('/users-by-email/bob@example.com', { name, weight: 2 })).toMatchObject({ body: { name } });
    expect(announced.at(-1)).toBe(`user:${bob.id}`);
    expect(await renamed()).toMatchObject([{ details: { before: 'bob', after: name } }]);
  });

  it.each(['before', 'after'])(
    'are changed by two administrators, each on record for their own change: %s',
    async (when) => {
      const { ada, bob, join, accounts } = await openHouse(['bob']);
      const eve = await join(ada, 'eve@example.com', { role: 'admin' });
      const change = accounts.users.change.bind(accounts.users);
      const changeAsEve = async () => {
        expect((await eve.patch(`/users/${bob.id}`, { weight: 2, role: 'admin' })).status).toBe(200);
        expect((await bob.patch('/account', { name: 'Robert' })).status).toBe(200);
      };
      vi.spyOn(accounts.users, 'change').mockImplementationOnce(async (...input) => {
        if (when === 'before') await changeAsEve();
        const outcome = await change(...input);
        if (when === 'after') await changeAsEve();
        return outcome;
      });
      expect((await ada.patch(`/users/${bob.id}`, { limits: { costPerDay: 5 } })).status).toBe(200);
      const { data } = (await ada.get(`/audit?target=${bob.id}`)).body as { data: Entry[] };
      const changes = data.filter(({ action, target }) => target.id === bob.id && action !== 'user.create');
      expect(changes.map(({ action, actor }) => `${actor.name} ${action}`).toSorted()).toEqual([
        'Ada user.limits',
        'bob user.rename',
        'eve user.role',
        'eve user.weight',
      ]);
    },
  );

  it('keep one administrator when two demote each other at the same moment', async () => {
    const { ada, join, accounts } = await openHouse();
    const eve = await join(ada, 'eve@example.com', { role: 'admin' });
    const { users } = accounts;
    const changes = [users.change(ada.id, { role: 'member' }, 1), users.change(eve.id, { blocked: true }, 1)];
    expect((await Promise.all(changes)).filter((outcome) => outcome === 'last admin')).toHaveLength(1);
  });

  it('lose their sessions for good, and their keys until they are unblocked, when they are blocked', async () => {
    const { ada, bob, verifier, announced } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', { kind: 'user', name: 'k', class: 'normal', limits: {} });
    await verifier.verify(body.raw);
    expect(await ada.patch(`/users/${bob.id}`, { blocked: true })).toMatchObject({ body: { blocked: true } });
    expect(announced).toEqual([`user:${bob.id}`]);
    await expect(verifier.verify(body.raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect((await bob.get('/session')).status).toBe(401);
    expect((await bob.signIn('bob@example.com', goodPassword)).status).toBe(401);
    await ada.patch(`/users/${bob.id}`, { blocked: false });
    expect(await verifier.verify(body.raw)).toMatchObject({ ownerId: bob.id });
    expect((await bob.get('/session')).status).toBe(401);
    expect((await bob.signIn('bob@example.com', goodPassword)).status).toBe(200);
  });

  it('are shown as refused by their provider only if they have no password', async () => {
    const { ada, bob, accounts, redis, prefix } = await openHouse(['bob']);
    await accounts.users.refuse(bob.id);
    expect((await ada.get('/users')).body[1]).not.toHaveProperty('refusedByProvider');
    await redis.hset(`${prefix}user:${bob.id}`, 'passwordHash', '');
    expect((await ada.get('/users')).body[1]).toMatchObject({ id: bob.id, refusedByProvider: true });
  });
});

describe('an invitation', () => {
  it("creates one account, with the invitation's address, role and team", async () => {
    const { ada, browser } = await openHouse([], { publicUrl: 'https://llm.example.com' });
    const { body: team } = await ada.post('/teams', { name: 'Blue' });
    const wanted = { email: 'Bob@Example.com', role: 'member', teamId: team.id };
    const { status, body } = await ada.post('/invitations', wanted);
    expect(status).toBe(201);
    expect(body.link).toMatch(/^https:\/\/llm\.example\.com\/link\/[\w-]{43}$/);
    expect(body.invitation.expiresAt - body.invitation.createdAt).toBe(7 * 24 * 3_600_000);
    expect((await ada.get('/invitations')).body).toEqual([body.invitation]);
    const path = linkPath(body.link);
    expect((await browser().get(path)).body).toEqual({ kind: 'invitation', email: 'bob@example.com' });
    const account = { name: 'Bob', email: 'ada@example.com', password: goodPassword };
    const teams = [{ id: team.id, name: 'Blue', role: 'member' }];
    const user = { email: 'bob@example.com', role: 'member', teams };
    expect(await browser().post(path, account)).toMatchObject({ body: { user } });
    expect((await browser().post(path, account)).status).toBe(404);
    expect((await ada.get('/invitations')).body).toEqual([]);
    expect(await ada.post('/invitations', wanted)).toMatchObject(refusal(409, 'email_taken', 'email'));
  });

  it('creates no second account for an address, however many accept at once', async () => {
    const { ada, browser, accounts } = await openHouse();
    const wanted = { email: 'bob@example.com', role: 'member' };
    const made = await Promise.all([1, 2, 3].map(() => ada.post('/invitations', wanted)));
    const paths = made.map(({ body }) => linkPath(body.link));
    const account = { name: 'Bob', password: goodPassword };
    const answers = await Promise.all(paths.map((path) => browser().post(path, account)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409]);
    expect(await accounts.users.list()).toHaveLength(2);
  });

  it.each([
    ['demoted', { role: 'member' }],
    ['blocked', { blocked: true }],
  ])('is void when the administrator who made it is %s; invitations of others stay valid', async (_, change) => {
    const { ada, join, browser, accounts, redis, prefix } = await openHouse();
    const mallory = await join(ada, 'mallory@example.com', { role: 'admin' });
    const { body: hers } = await mallory.post('/invitations', { email: 'back-door@example.com', role: 'admin' });
    const { body: other } = await ada.post('/invitations', { email: 'bob@example.com', role: 'member' });
    expect((await ada.patch(`/users/${mallory.id}`, { limits: {} })).status).toBe(200);
    expect((await ada.get('/invitations')).body).toHaveLength(2);
    expect((await ada.patch(`/users/${mallory.id}`, change)).status).toBe(200);
    expect((await ada.get('/invitations')).body).toEqual([other.invitation]);
    expect((await browser().post(linkPath(hers.link), { name: 'Back', password: goodPassword })).status).toBe(404);
    expect(await accounts.users.list()).toHaveLength(2);
    expect(await redis.keys(`${prefix}invitation*`)).toHaveLength(3);
    expect((await browser().get(linkPath(other.link))).status).toBe(200);
  });

  it('is not accepted while the provider of the administrator who made it does not admit them', async () => {
    const { ada, join, browser, accounts, redis, prefix } = await openHouse();
    const mallory = await join(ada, 'mallory@example.com', { role: 'admin' });
    const { body } = await mallory.post('/invitations', { email: 'back-door@example.com', role: 'admin' });
    const path = linkPath(body.link);
    const record = `${prefix}user:${mallory.id}`;
    await redis.hset(record, 'passwordHash', '');
    await accounts.users.refuse(mallory.id);
    expect((await browser().get(path)).status).toBe(404);
    expect((await browser().post(path, { name: 'Back', password: goodPassword })).status).toBe(404);
    await redis.hdel(record, 'refusedAt');
    expect((await browser().get(path)).status).toBe(200);
  });

  it('can be withdrawn, and names only a team that exists', async () => {
    const { ada, browser, redis, prefix } = await openHouse();
    const { body } = await ada.post('/invitations', { email: 'bob@example.com', role: 'admin' });
    const [name = ''] = await redis.keys(`${prefix}invitation-link:*`);
    expect(await redis.pttl(name)).toBeGreaterThan(6.9 * 24 * 3_600_000);
    expect((await ada.delete(`/invitations/${body.invitation.id}`)).status).toBe(204);
    expect((await browser().get(linkPath(body.link))).status).toBe(404);
    expect(await ada.delete(`/invitations/${body.invitation.id}`)).toMatchObject(notFound);
    const ofNoTeam = { email: 'x@example.com', role: 'member', teamId: '000000000000' };
    expect(await ada.post('/invitations', ofNoTeam)).toMatchObject(wrongField('teamId'));
  });
});

describe('a team', () => {
  it('is managed by its owners and seen by its members', async () => {
    const { ada, bob, eve } = await openHouse(['bob', 'eve']);
    const { body: team } = await ada.post('/teams', { name: 'Blue' });
    const path = `/teams/${team.id}`;
    const fresh = { limits: {}, weight: 1, ceiling: {}, records: false, members: [] };
    expect(team).toEqual({ ...fresh, id: team.id, name: 'Blue', createdAt: expect.any(Number) });
    expect(await bob.patch(path, { name: 'Mine' })).toMatchObject(notFound);
    await ada.put(`${path}/members/${bob.id}`, { role: 'owner' });
    const members = [{ id: bob.id, role: 'owner' }, { id: eve.id }];
    expect(await bob.put(`${path}/members/${eve.id}`, { role: 'member' })).toMatchObject({ body: { members } });
    expect((await eve.get('/teams')).body).toMatchObject([{ id: team.id }]);
    for (const change of [{ name: 'Mine' }, {}]) expect(await eve.patch(path, change)).toMatchObject(denied);
    expect(await eve.put(`${path}/members/${eve.id}`, { role: 'owner' })).toMatchObject(denied);
    // Files for rtr apply and rules of providers refer to the team by its name.
    for (const change of [{ name: 'Bluer' }, { limits: { requestsPerMinute: 1_000 } }, { weight: 9 }])
      expect(await bob.patch(path, change)).toMatchObject(denied);
    expect(await ada.patch(path, { weight: 9 })).toMatchObject({ body: { weight: 9 } });
    expect(await bob.delete(path)).toMatchObject(denied);
    expect((await bob.delete(`${path}/members/${eve.id}`)).body.members).toHaveLength(1);
    expect(await bob.delete(`${path}/members/${eve.id}`)).toMatchObject(notFound);
    expect(await eve.patch(path, { name: 'Mine' })).toMatchObject(notFound);
    expect(await bob.put(`${path}/members/000000000000`, { role: 'member' })).toMatchObject(notFound);
  });

  it('has a name that no other team has, in whatever case', async () => {
    const { ada } = await openHouse();
    const taken = refusal(409, 'name_taken', 'name');
    const made = await Promise.all(Array.from({ length: 6 }, () => ada.post('/teams', { name: 'Blue' })));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of made) expect([201, 409]).toContain(status);
    expect(await ada.post('/teams', { name: 'BLUE' })).toMatchObject(taken);
    expect(await ada.put('/teams-by-name/blue', { weight: 2 })).toMatchObject(taken);
    const { body: red } = await ada.post('/teams', { name: 'Red' });
    expect(await ada.patch(`/teams/${red.id}`, { name: 'Blue' })).toMatchObject(taken);
    // Its own name may be written in another way.
    expect(await ada.patch(`/teams/${red.id}`, { name: 'RED' })).toMatchObject({ status: 200, body: { name: 'RED' } });
    expect(await ada.patch(`/teams/${red.id}`, { name: 'RED', weight: 2 })).toMatchObject({ status: 200 });
    expect((await ada.get('/teams')).body.map(({ name }: { name: string }) => name)).toEqual(['Blue', 'RED']);
  });
});

it('the audit trail lists who did what, newest first, in pages, without secrets, and the log has each entry with ids', async () => {
  const { ada, bob, accounts, apiLog } = await openHouse(['bob']);
  await ada.patch(`/users/${bob.id}`, { role: 'admin', limits: { costPerDay: 5 }, weight: 2 });
  await ada.patch('/settings', { sessionHours: 8 });
  const body = (await ada.get('/audit')).body.data;
  const changes = ['settings.change', 'user.weight', 'user.limits', 'user.role'];
  const made = ['user.create', 'invitation.create', 'user.create'];
  expect(body.map(({ action }: { action: string }) => action)).toEqual([...changes, ...made]);
  const change = { action: 'user.role', details: { before: 'member', after: 'admin' } };
  const parties = { actor: { id: ada.id, name: 'Ada' }, target: { kind: 'user', id: bob.id, name: 'bob' } };
  const from = { address: expect.stringContaining('127.0.0.1'), session: expect.stringMatching(/^[\w-]{43}$/) };
  const place = { id: expect.stringMatching(/^\d{16}$/), at: expect.any(Number) };
  expect(body[3]).toEqual({ ...change, ...parties, ...place, from });
  const logged = { action: 'user.role', actor: ada.id, target: { kind: 'user', id: bob.id } };
  expect(apiLog.map((line) => JSON.parse(line))).toContainEqual(expect.objectContaining(logged));
  expect(apiLog.join()).not.toContain('example.com');
  const note = { actor: null, action: 'test', target: null, details: {} };
  for (let n = 0; n < 120; n += 1) await accounts.audit.add({ ...note, details: { n } });
  const first = (await ada.get('/audit')).body.data;
  expect(first).toHaveLength(100);
  const second = (await ada.get(`/audit?cursor=${first.at(-1).id}`)).body.data;
  const rest = Array.from({ length: 20 }, (_, n) => ({ details: { n: 19 - n } }));
  expect(second.slice(0, 21)).toMatchObject([...rest, body[0]]);
  for (const before of ['0%20DROP', '0-0', '99999999999999999999', '-1'])
    expect(await ada.get(`/audit?cursor=${before}`)).toMatchObject(wrongField('cursor'));
  expect((await ada.get('/audit?cursor=1')).body).toEqual({ data: [] });
});

it('the settings have defaults, change one by one, and stay within their limits', async () => {
  const { ada } = await openHouse();
  const times = { invitationDays: 7, sessionHours: 24, auditDays: 400 };
  const rights = { membersMakeKeys: true, requireSecondFactor: false, newMembers: { limits: {}, ceiling: {} } };
  expect((await ada.get('/settings')).body).toEqual({ ...times, ...rights, alertEmails: { router: true } });
  expect((await ada.patch('/settings', { membersMakeKeys: false })).body).toMatchObject({ membersMakeKeys: false });
  expect(await ada.patch('/settings', { sessionHours: 0 })).toMatchObject(wrongField('sessionHours'));
  const alertEmails = { router: ['ops@example.com'] };
  expect((await ada.patch('/settings', { alertEmails })).body).toMatchObject({ alertEmails });
  for (const router of [[], ['ops'], Array.from({ length: 21 }, (_, at) => `a${at}@example.com`)]) {
    const { body } = await ada.patch('/settings', { alertEmails: { router } });
    expect(body.error.field).toMatch(/^alertEmails\.router/);
  }
  expect(await ada.patch('/settings', { other: 1 })).toMatchObject(wrongField('other'));
});

it('an entry of the audit trail has the address and the session that the change came from, until the person is deleted', async () => {
  const { ada, bob } = await openHouse(['bob']);
  await bob.post('/keys', { kind: 'user', name: 'laptop', class: 'normal', limits: {} });
  const [session] = (await bob.get('/sessions')).body;
  const [entry] = (await ada.get('/audit')).body.data;
  expect(entry).toMatchObject({ action: 'key.create', from: { session: session.id } });
  expect(entry.from.address).toMatch(/127\.0\.0\.1$/);
  expect(entry.from.session).not.toBe(bob.sessionId);
  await ada.delete(`/users/${bob.id}`);
  const later = (await ada.get('/audit')).body.data.find(({ action }: { action: string }) => action === 'key.create');
  expect(later).not.toHaveProperty('from');
});

it('an owner of a team adds a person by the address of their account, and gets no more than 404 where there is none', async () => {
  const { ada, bob, eve, mel, teamId } = await openTeam(['mel']);
  const path = `/teams/${teamId}/members`;
  const add = (email: string) => bob.post(path, { email, role: 'member' });
  const members = [{ id: bob.id }, { id: eve.id }, { id: mel.id, role: 'member' }];
  expect(await add('MEL@example.com')).toMatchObject({ body: { members } });
  expect(await add('no@example.com')).toMatchObject(refusal(404, 'no_account', 'email'));
  expect((await eve.post(path, { email: 'bob@example.com', role: 'owner' })).status).toBe(403);
  expect((await ada.get('/audit')).body.data[0]).toMatchObject({ action: 'team.member.add', actor: { id: bob.id } });
});
