import { describe, expect, it } from 'vitest';
import type { AdminClient } from '../../../../helpers/console/admin-client.ts';
import { goodPassword } from '../../../../helpers/console/good-password.ts';
import { linkPath } from '../../../../helpers/console/link-path.ts';
import { openHouse, programOf } from '../../../../helpers/console/open-console.ts';
import { refusal } from '../../../../helpers/console/refusals.ts';

/** A console with an administrator, and a program with her token. */
async function open<Name extends string = never>(...members: Name[]) {
  const house = await openHouse(members);
  return { ...house, api: await programOf(house.ada, 'admin') };
}

/** Reads a list page by page, and returns the ids of all items. @param path with a query @param from the cursor of the first page */
async function walk(api: AdminClient, path: string, from = ''): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined = from; cursor !== undefined;) {
    const { body } = await api.get(`${path}${cursor && `&cursor=${cursor}`}`);
    seen.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.next;
  }
  return seen;
}

describe('a change by name', () => {
  it('makes a team once, however many requests ask for it at once, and then changes it', async () => {
    const { api, accounts } = await open();
    const [path, limits] = ['/teams-by-name/Blue%20%2F%20Green', { costPerMonth: 5 }];
    const first = await api.put(path, { limits });
    expect(first).toMatchObject({ status: 201, body: { name: 'Blue / Green', limits } });
    expect(await api.put(path, {})).toMatchObject({ status: 200, body: first.body });
    const changed = { status: 200, body: { id: first.body.id, weight: 3, limits } };
    expect(await api.put(path, { weight: 3 })).toMatchObject(changed);
    await api.put(path, { weight: 3, limits });
    expect((await api.get('/audit?action=team.change')).body.data).toHaveLength(2);
    const many = await Promise.all(Array.from({ length: 8 }, () => api.put('/teams-by-name/Red', {})));
    for (const { status } of many) expect([200, 201, 503]).toContain(status);
    expect(many.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await api.get('/teams?name=Red')).body.data).toHaveLength(1);
    // Another team with the same name, which the API would refuse.
    await accounts.teams.create('Red');
    expect(await api.put('/teams-by-name/Red', {})).toMatchObject(refusal(409, 'ambiguous_name'));
  });

  it('makes nothing with a name that cannot be written in a path or a file', async () => {
    const { api } = await open();
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    for (const name of ['.', ' .. ', '__proto__']) {
      const refused = { status: 400, body: { error: { field: 'name', message: 'This cannot be a name.' } } };
      expect(await api.post('/teams', { name })).toMatchObject(refused);
      expect(await api.patch(`/teams/${team.id}`, { name })).toMatchObject(refused);
      expect(await api.put(`/teams-by-name/${encodeURIComponent(name)}%20`, {})).toMatchObject(refused);
      expect(await api.post('/keys', { kind: 'router', name })).toMatchObject(refused);
      expect(await api.put('/users-by-email/bob@example.com', { name })).toMatchObject(refused);
    }
    expect((await api.post('/teams', { name: '...' })).status).toBe(201);
  });

  it('makes an account that waits for its person, with a link for a password', async () => {
    const { api, browser, accounts } = await open();
    const path = '/users-by-email/Bob%40Example.com';
    const settings = { name: 'Bob', limits: { requestsPerMinute: 3 } };
    const made = await api.put(path, settings);
    expect(made).toMatchObject({ status: 201, body: { email: 'bob@example.com', role: 'member', ...settings } });
    const { id } = made.body;
    expect(await api.put(path, {})).toMatchObject({ status: 200, body: made.body });
    const change = { name: 'Bobby', blocked: true };
    expect(await api.put(path, change)).toMatchObject({ body: change });
    expect((await api.post(`/users/${id}/password-link`)).status).toBe(409);
    await api.put(path, { blocked: false });
    expect((await browser().signIn('bob@example.com', '')).status).toBe(400);
    expect((await browser().signIn('bob@example.com', 'anything at all')).status).toBe(401);
    const { body } = await api.post(`/users/${id}/password-link`);
    const bob = browser();
    expect((await bob.post(linkPath(body.link), { name: '', email: '', password: goodPassword })).status).toBe(200);
    expect((await bob.get('/session')).body.user).toMatchObject({ id, email: 'bob@example.com' });
    expect((await accounts.users.find(id))?.role).toBe('member');
    expect(await api.post(`/users/${id}/password-link`)).toMatchObject(refusal(409, 'has_signed_in'));
  });

  it('makes a person with the limits of new members, where it contains no others', async () => {
    const { api } = await open();
    await api.patch('/settings', { newMembers: { limits: { tokensPerDay: 7 }, ceiling: { tiers: ['gpu'] } } });
    const { body } = await api.post('/users', { email: 'new@example.com' });
    expect(body).toMatchObject({ name: 'new', limits: { tokensPerDay: 7 }, ceiling: { tiers: ['gpu'] } });
    const { body: admin } = await api.post('/users', { email: 'boss@example.com', role: 'admin' });
    expect(admin).toMatchObject({ role: 'admin', limits: {}, ceiling: {} });
    expect((await api.post('/users', { email: 'boss@example.com' })).status).toBe(409);
  });

  it('makes a key once, shows its secret only then, and later changes only the settings that it contains', async () => {
    const { api } = await open();
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    const body = { kind: 'team', teamId: team.id };
    const made = await api.put('/keys-by-name/ci', { ...body, limits: { costPerDay: 2 }, models: ['demo'] });
    expect(made).toMatchObject({ status: 201, body: { raw: expect.stringMatching(/^team\./), key: { name: 'ci' } } });
    const again = await api.put('/keys-by-name/ci', body);
    expect(again).toMatchObject({ status: 200, body: { key: made.body.key } });
    expect(again.body.raw).toBeUndefined();
    // Settings that have the wanted values already leave no trace.
    const change = { ...body, limits: { costPerDay: 2 }, models: ['demo'] };
    expect((await api.put('/keys-by-name/ci', change)).body.key).toEqual(made.body.key);
    expect((await api.get(`/keys/${made.body.key.id}`)).headers.get('etag')).toBe('"0"');
    expect((await api.get('/audit?action=key.change')).body.data).toEqual([]);
    const freed = await api.put('/keys-by-name/ci', { ...body, models: null });
    expect(freed.body.key).toMatchObject({ id: made.body.key.id, limits: { costPerDay: 2 } });
    expect(freed.body.key.models).toBeUndefined();
    await api.delete(`/keys/${made.body.key.id}`);
    const next = await api.put('/keys-by-name/ci', body);
    expect([next.status, next.body.key.id === made.body.key.id]).toEqual([201, false]);
    const router = await api.put('/keys-by-name/all', { kind: 'router' });
    expect(router).toMatchObject({ status: 201, body: { key: { kind: 'router' } } });
    expect((await api.put('/keys-by-name/all', { kind: 'router' })).status).toBe(200);
  });
});

describe('an ETag', () => {
  it("is refused with changes to one's own account, which have no revision, and changes nothing", async () => {
    const { ada } = await open();
    const match = { 'if-match': '"999"' };
    const refused = refusal(400, 'invalid_request');
    expect(await ada.ask('PATCH', '/account', { name: 'Eve' }, match)).toMatchObject(refused);
    expect(await ada.ask('DELETE', '/session', undefined, match)).toMatchObject(refused);
    const unchanged = { status: 200, body: { user: { name: 'Ada' } } };
    expect(await ada.ask('GET', '/session', undefined, match)).toMatchObject(unchanged);
    expect((await ada.ask('PATCH', `/users/${ada.id}`, { weight: 2 }, match)).status).toBe(412);
  });

  it('comes with every read, and a change with an older one is refused and changes nothing', async () => {
    const { api } = await open();
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    const { body: person } = await api.post('/users', { email: 'bob@example.com' });
    const { body: made } = await api.post('/keys', { kind: 'team', teamId: team.id, name: 'ci' });
    for (const path of [`/teams/${team.id}`, `/users/${person.id}`, `/keys/${made.key.id}`]) {
      const etag = (await api.get(path)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^"\d+"$/);
      const changed = await api.patch(path, { weight: 2 }, { 'if-match': etag });
      expect(changed).toMatchObject({ status: 200, body: { weight: 2 } });
      expect(changed.headers.get('etag')).not.toBe(etag);
      expect(await api.patch(path, { weight: 9 }, { 'if-match': etag })).toMatchObject(refusal(412, 'stale'));
      expect((await api.patch(path, { weight: 9 }, { 'if-match': 'W/"x"' })).status).toBe(412);
      expect((await api.get(path)).body).toMatchObject({ weight: 2 });
      expect((await api.patch(path, { weight: 4 }, { 'if-match': '*' })).status).toBe(200);
    }
  });

  it('is accepted with changes by name too, and is refused where it would be ignored', async () => {
    const { api, ada } = await open();
    const statusOf = async (path: string, body: object, match: string) =>
      (await api.ask('PUT', path, body, { 'if-match': match })).status;
    const { body: team } = await api.put('/teams-by-name/Blue', {});
    await api.post('/users', { email: 'bob@example.com' });
    const key = await api.put('/keys-by-name/ci', { kind: 'router' });
    for (const [path, body] of [
      ['/teams-by-name/Blue', {}],
      ['/users-by-email/bob@example.com', {}],
      ['/keys-by-name/ci', { kind: 'router' }],
    ] as const) {
      const { etag = '' } = Object.fromEntries((await api.put(path, { ...body, weight: 2 })).headers);
      expect(etag).toMatch(/^"\d+"$/);
      const put = (weight: number, match: string) => statusOf(path, { ...body, weight }, match);
      // Also where nothing would be changed.
      expect([await put(3, '"77"'), await put(2, '"77"')]).toEqual([412, 412]);
      expect([await put(4, etag), await put(5, etag)]).toEqual([200, 412]);
    }
    for (const match of ['"0"', '*']) expect(await statusOf('/teams-by-name/New', {}, match)).toBe(412);
    expect((await api.get('/teams?name=New')).body.data).toEqual([]);
    const refused = { status: 400, body: { error: { message: expect.stringContaining('takes no If-Match') } } };
    for (const path of [`/teams/${team.id}`, `/keys/${key.body.key.id}`, `/users/${ada.id}`])
      expect(await api.ask('DELETE', path, undefined, { 'if-match': '"1"' })).toMatchObject(refused);
    expect((await api.get(`/teams/${team.id}`)).body).toMatchObject({ weight: 4 });
  });

  it('lets only one of many concurrent changes pass', async () => {
    const { api } = await open();
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    const etag = (await api.get(`/teams/${team.id}`)).headers.get('etag') ?? '';
    const change = (weight: number) => api.patch(`/teams/${team.id}`, { weight }, { 'if-match': etag });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => change(at + 2)));
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([200, ...Array<number>(9).fill(412)]);
  });
});

describe('a list', () => {
  it('comes in pages that contain every item once, also when items are removed meanwhile', async () => {
    const { api } = await open();
    const made: string[] = [];
    for (let count = 0; count < 25; count += 1)
      made.push(String((await api.post('/users', { email: `p${count}@example.com` })).body.id));
    const { body: page } = await api.get('/users?limit=7');
    const first: string[] = page.data.map(({ id }: { id: string }) => id);
    // The cursor stands for this person.
    await api.delete(`/users/${first.at(-1)}`);
    const seen = [...first, ...(await walk(api, '/users?limit=7', page.next))];
    expect(seen.slice(1)).toEqual(made);
    for (const limit of [0, 1_001]) expect((await api.get(`/users?limit=${limit}`)).status).toBe(400);
    expect((await api.get('/users?email=p3@example.com')).body.data).toHaveLength(1);
  });

  it('contains every item once also where it is not in the order of its pages', async () => {
    const { api, bob } = await open('bob');
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    await api.put(`/teams/${team.id}/members/${bob.id}`, { role: 'owner' });
    const webhook = { url: 'https://example.com/', events: ['batch.*'] };
    // The team's are made first, and listed after his own.
    for (const whose of [{ kind: 'team', teamId: team.id }, { kind: 'user' }, { kind: 'team', teamId: team.id }])
      expect((await bob.post('/webhooks', { ...webhook, ...whose })).status).toBe(201);
    const seen = await walk(await programOf(bob, 'read'), '/webhooks?limit=1');
    const { body: all } = await bob.get('/webhooks');
    expect(seen.toSorted()).toEqual(all.map(({ id }: { id: string }) => id).toSorted());
    expect(seen).toHaveLength(3);
  });

  it('has no page after an invalid cursor', async () => {
    const { api, ada } = await open();
    const refused = refusal(400, 'invalid_request', 'cursor');
    const lists = ['/keys', '/users', '/teams', '/tokens', '/webhooks', '/invitations'];
    for (const list of [...lists, `/keys?owner=${ada.id}`, `/users/${ada.id}/sessions`]) {
      for (const cursor of ['zzzz', '-Infinity', '0x10', '1.5', '', '1e3.aa']) {
        const query = `${list.includes('?') ? '&' : '?'}cursor=${cursor}`;
        expect(await api.get(list + query), list + query).toMatchObject(refused);
      }
    }
  });

  it('of keys is paged over all of them, and over those of one owner', async () => {
    const { api, accounts, redis, prefix } = await open();
    const { body: team } = await api.post('/teams', { name: 'Blue' });
    const createdAt = Date.now() - 1_000;
    // Ten of the same millisecond.
    for (let count = 0; count < 20; count += 1) {
      const id = `0000000000${String(count).padStart(2, '0')}`;
      const record = { id, name: id, class: 'normal', hash: 'x', firstFour: 'aaaa', lastFour: 'bbbb' } as const;
      const owned = count % 2 === 0 ? ({ kind: 'team', ownerId: team.id } as const) : ({ kind: 'router' } as const);
      await accounts.keys.create({ ...record, ...owned, createdAt: createdAt + (count < 10 ? 0 : count) });
    }
    const all = await walk(api, '/keys?limit=3');
    expect([all.length, new Set(all).size]).toEqual([20, 20]);
    // An unreadable record removes only itself from the list.
    await redis.hset(`${prefix}key:${all[4]}`, 'createdAt', 'hunter2');
    expect(await walk(api, '/keys?limit=3')).toEqual(all.filter((_, at) => at !== 4));
    await redis.hset(`${prefix}key:${all[4]}`, 'createdAt', createdAt);
    expect(await walk(api, `/keys?limit=3&owner=${team.id}`)).toEqual(all.filter((_, at) => at % 2 === 0));
  });
});

describe('the audit trail', () => {
  it('is filtered by actor, action, target and time, and comes as a file', async () => {
    const { api, bob, url } = await open('bob');
    const { body: team } = await api.post('/teams', { name: '=Blue' });
    await api.put(`/teams/${team.id}/members/${bob.id}`, { role: 'owner' });
    await bob.put(`/teams/${team.id}/members/${bob.id}`, { role: 'member' });
    const actions = async (query: string): Promise<string[]> =>
      (await api.get(`/audit?${query}`)).body.data.map(({ action }: { action: string }) => action);
    expect(await actions(`actor=${bob.id}`)).toEqual(['team.member.change', 'user.create']);
    expect(await actions('action=team.*')).toEqual(['team.member.change', 'team.member.add', 'team.create']);
    expect(await actions('action=team.member.*')).toEqual(['team.member.change', 'team.member.add']);
    expect(await actions('action=team.create')).toEqual(['team.create']);
    expect(await actions(`target=${team.id}`)).toEqual(['team.member.change', 'team.member.add', 'team.create']);
    expect(await actions(`from=${Date.now() + 60_000}`)).toEqual([]);
    expect(await actions('to=1')).toEqual([]);
    expect((await api.get('/audit?action=team.%25')).status).toBe(400);
    const file = await fetch(`${url}/api/admin/v1/audit/export?format=csv&action=team.*`, {
      headers: { authorization: `Bearer ${api.token}` },
    });
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    const [head, ...lines] = (await file.text()).trimEnd().split('\r\n');
    const ofTarget = 'target_kind,target_id,target_name,address,session,token,command_line,count,details';
    expect(head).toBe(`id,at,actor_id,actor_name,action,${ofTarget}`);
    expect(lines).toHaveLength(3);
    expect(lines[2]).toMatch(/,team\.create,team,\w+,'=Blue,/);
    expect((await api.get('/audit/export?format=json&action=team.*')).body).toHaveLength(3);
  });

  it('is kept for the days of the setting, older entries included', async () => {
    const { api, accounts, redis, prefix } = await open();
    const error = { field: 'auditDays', message: 'The audit trail is kept for 30 days at least.' };
    expect(await api.patch('/settings', { auditDays: 29 })).toMatchObject({ status: 400, body: { error } });
    await api.patch('/settings', { auditDays: 45 });
    await api.patch('/settings', { auditDays: 30 });
    await accounts.audit.add({ actor: null, action: 'test', target: null, details: {} });
    const [newest = ''] = await redis.zrange(`${prefix}audit-index`, '-1', '-1');
    expect((await redis.pttl(`${prefix}audit-entry:${newest}`)) / 86_400_000).toBeCloseTo(30, 1);
    const old = String((Date.now() - 40 * 86_400_000) * 1_000);
    await redis.rename(`${prefix}audit-entry:${newest}`, `${prefix}audit-entry:${old}`);
    await redis.zadd(`${prefix}audit-index`, Number(old), old);
    expect((await api.get('/audit?action=test')).body.data).toEqual([]);
    await accounts.audit.add({ actor: null, action: 'other', target: null, details: {} });
    expect(await redis.exists(`${prefix}audit-entry:${old}`)).toBe(0);
    expect(await redis.zscore(`${prefix}audit-index`, old)).toBeNull();
    // The trail contains the change itself, with the time before it.
    expect((await api.get('/audit?action=settings.change')).body.data).toMatchObject([
      { details: { before: { auditDays: 45 }, after: { auditDays: 30 } } },
      { details: { before: { auditDays: 400 }, after: { auditDays: 45 } } },
    ]);
  });
});
