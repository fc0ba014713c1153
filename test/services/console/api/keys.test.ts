import { describe, expect, it } from 'vitest';
import { made } from '../../../helpers/accounts/made.ts';
import { openHouse, openTeam } from '../../../helpers/console/open-console.ts';
import { denied, notFound, refusal, wrongField } from '../../../helpers/console/refusals.ts';

const plain = { name: 'laptop', class: 'normal', limits: {} };
const unusable = refusal(409, 'key_not_usable');

describe('a personal key', () => {
  it('works at once, is shown once, and has its person and all its settings', async () => {
    const { ada, bob, verifier } = await openHouse(['bob']);
    await ada.patch(`/users/${bob.id}`, { limits: { requestsPerMinute: 60 }, weight: 3 });
    const use = { models: ['auto'], tiers: ['gpu'], limits: { costPerDay: 2 }, weight: 2 };
    const settings = { name: 'ci', class: 'low', expiresAt: Date.now() + 60_000, ...use };
    const { status, body } = await bob.post('/keys', { kind: 'user', ...settings });
    expect(status).toBe(201);
    expect(body.raw).toMatch(/^user\.rtr_[0-9a-z]{12}_[0-9a-z]{40}$/);
    const whose = { kind: 'user', owner: { id: bob.id, name: 'bob' }, createdBy: 'bob' };
    const masked = expect.stringMatching(new RegExp(`…${body.raw.slice(-4)}$`));
    const given = { id: body.raw.split('_')[1], records: false, createdAt: expect.any(Number), masked };
    expect(body.key).toEqual({ ...settings, ...whose, ...given });
    const { expiresAt: _, limits, ...inForce } = settings;
    const ofKey = { party: `key:${body.key.id}`, limits };
    const ofPerson = { party: `user:${bob.id}`, limits: { requestsPerMinute: 60 } };
    const identity = { ...inForce, id: body.key.id, kind: 'user', ownerId: bob.id, ownerWeight: 3 };
    expect(await verifier.verify(body.raw)).toEqual({ ...identity, limits: [ofKey, ofPerson] });
    const listed = await bob.get('/keys');
    expect(listed.body).toEqual([body.key]);
    expect(JSON.stringify(listed.body)).not.toContain(body.raw.slice(-12));
  });

  it('of someone else answers 404 to every action; an administrator may do everything', async () => {
    const { ada, bob, eve } = await openTeam();
    const { body } = await bob.post('/keys', { kind: 'user', ...plain });
    const path = `/keys/${body.key.id}`;
    expect(await eve.patch(path, { name: 'mine now' })).toMatchObject(notFound);
    expect(await eve.post(`${path}/rotate`, { overlapMs: 0 })).toMatchObject(notFound);
    expect(await eve.delete(path)).toMatchObject(notFound);
    for (const list of ['/keys', `/keys?owner=${bob.id}`]) expect((await eve.get(list)).body).toEqual([]);
    for (const person of [bob, ada]) expect((await person.get(`/keys?owner=${bob.id}`)).body).toEqual([body.key]);
    // Exactly as for a key that does not exist.
    const { body: none } = await eve.delete('/keys/000000000000');
    expect((await eve.delete(path)).body).toEqual(none);
    expect((await ada.get('/keys')).body).toEqual([body.key]);
    expect(await ada.patch(path, { class: 'high' })).toMatchObject({ status: 200, body: { class: 'high' } });
    expect((await ada.delete(path)).status).toBe(204);
  });

  it('is changed, also by removing a restriction, and every change is announced', async () => {
    const { ada, verifier, announced } = await openHouse();
    const { body } = await ada.post('/keys', { kind: 'user', ...plain, models: ['a'], tiers: ['cli'], tools: ['b/*'] });
    expect(await verifier.verify(body.raw)).toMatchObject({ tools: ['b/*'] });
    const change = { tools: ['c'], tiers: ['gpu'], limits: { tokensPerDay: 9 }, weight: 4 };
    const changed = await ada.patch(`/keys/${body.key.id}`, { ...change, models: null });
    expect(changed.body).toEqual({ ...body.key, ...change, models: undefined });
    expect(announced).toEqual([body.key.id]);
    expect(await verifier.verify(body.raw)).toMatchObject({ models: undefined, tools: ['c'], weight: 4 });
    expect((await ada.patch(`/keys/${body.key.id}`, { tools: null })).body).not.toHaveProperty('tools');
  });

  it('is rotated into one with the same settings; both work until the overlap ends', async () => {
    const { ada, verifier } = await openHouse();
    const more = { models: ['a'], tools: ['c'], limits: { tokensPerDay: 9 }, weight: 5 };
    const { body: old } = await ada.post('/keys', { kind: 'user', ...plain, ...more });
    await verifier.verify(old.raw);
    const rotated = await ada.post(`/keys/${old.key.id}/rotate`, { overlapMs: 600_000 });
    expect(rotated.status).toBe(201);
    const { id, masked, createdAt, ...settings } = rotated.body.key;
    expect(old.key).toMatchObject(settings);
    expect(await verifier.verify(old.raw)).toMatchObject({ id: old.key.id });
    expect(await verifier.verify(rotated.body.raw)).toMatchObject({ id, models: ['a'], tools: ['c'] });
    const [listed] = (await ada.get('/keys')).body;
    expect(listed.expiresAt).toBe(createdAt + 600_000);
    expect(await ada.post(`/keys/${old.key.id}/rotate`, { overlapMs: 0 })).toMatchObject(unusable);
    const again = await ada.post(`/keys/${id}/rotate`, { overlapMs: 0 });
    // A change of its expiry does not undo its replacement.
    expect(await ada.patch(`/keys/${id}`, { expiresAt: null })).toMatchObject(unusable);
    await expect(verifier.verify(rotated.body.raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(await verifier.verify(again.body.raw)).toMatchObject({ kind: 'user' });
    expect(masked).not.toBe(old.key.masked);
  });

  it('that is revoked is refused at once and cannot be revived', async () => {
    const { ada, verifier, announced } = await openHouse();
    const { body } = await ada.post('/keys', { kind: 'user', ...plain });
    const path = `/keys/${body.key.id}`;
    await verifier.verify(body.raw);
    expect((await ada.delete(path)).status).toBe(204);
    await expect(verifier.verify(body.raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(announced).toEqual([body.key.id]);
    expect(await ada.patch(path, { expiresAt: null })).toMatchObject({ status: 409 });
    expect(await ada.post(`${path}/rotate`, { overlapMs: 0 })).toMatchObject({ status: 409 });
    expect((await ada.delete(path)).status).toBe(204);
    expect((await ada.get('/keys')).body).toEqual([{ ...body.key, revokedAt: expect.any(Number) }]);
  });

  it('is neither made nor prolonged by its person where only administrators may make keys', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const expiresAt = Date.now() + 60_000;
    const { body } = await bob.post('/keys', { kind: 'user', ...plain, expiresAt });
    const { body: unlimited } = await bob.post('/keys', { kind: 'user', ...plain });
    await ada.patch('/settings', { membersMakeKeys: false });
    expect(await bob.post('/keys', { kind: 'user', ...plain })).toMatchObject(denied);
    expect((await ada.post('/keys', { kind: 'user', ...plain })).status).toBe(201);
    const path = `/keys/${body.key.id}`;
    for (const later of [null, expiresAt + 1])
      expect(await bob.patch(path, { expiresAt: later })).toMatchObject(denied);
    expect((await bob.patch(path, { name: 'mine', expiresAt: expiresAt - 1 })).status).toBe(200);
    expect((await bob.patch(`/keys/${unlimited.key.id}`, { expiresAt: null })).status).toBe(200);
    // Rotated with an overlap, one key would be two.
    expect(await bob.post(`${path}/rotate`, { overlapMs: 1_000 })).toMatchObject(denied);
    expect((await bob.post(`${path}/rotate`, { overlapMs: 0 })).status).toBe(201);
    expect((await ada.patch(`/keys/${unlimited.key.id}`, { expiresAt: null })).status).toBe(200);
  });

  it('cannot be given the class `high` by a member, neither at first nor later', async () => {
    const { ada, bob } = await openHouse(['bob']);
    expect(await bob.post('/keys', { kind: 'user', ...plain, class: 'high' })).toMatchObject(denied);
    const { body } = await bob.post('/keys', { kind: 'user', ...plain });
    const path = `/keys/${body.key.id}`;
    expect(await bob.patch(path, { class: 'high' })).toMatchObject(denied);
    await ada.patch(path, { class: 'high' });
    expect(await bob.patch(path, { class: 'high', name: 'as it is' })).toMatchObject({ status: 200 });
  });

  it('is not made with a wrong setting', async () => {
    const { ada, store } = await openHouse();
    for (const [wrong, field] of [
      [{ kind: 'other' }, 'kind'],
      [{ kind: 'user', name: '' }, 'name'],
      [{ kind: 'user', class: 'best' }, 'class'],
      [{ kind: 'user', expiresAt: Date.now() - 1 }, 'expiresAt'],
      [{ kind: 'user', models: [] }, 'models'],
      [{ kind: 'user', tiers: ['moon'] }, 'tiers.0'],
      [{ kind: 'user', limits: { requestsPerMinute: 0 } }, 'limits.requestsPerMinute'],
      [{ kind: 'user', weight: 101 }, 'weight'],
      [{ kind: 'user', ownerId: 'somebody else' }, 'ownerId'],
      [{ kind: 'team' }, 'teamId'],
    ] as const)
      expect(await ada.post('/keys', { ...plain, ...wrong }), field).toMatchObject(wrongField(field));
    expect(await store.list()).toEqual([]);
  });

  it('is refused with a wait for a person who creates very many at once, and for nobody else', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const flood = Array.from({ length: 100 }, () => ada.post('/keys', { kind: 'user', ...plain }));
    const onlyRefused = flood.map(async (asked) => {
      const answer = await asked;
      if (answer.status !== 503) throw new Error('this one was made');
      return answer;
    });
    const refused = await Promise.any(onlyRefused);
    expect(refused).toMatchObject(refusal(503, 'overloaded'));
    expect(refused.headers.get('retry-after')).toBe('2');
    expect((await bob.post('/keys', { kind: 'user', ...plain })).status).toBe(201);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
  });

  it('is one of at most 200: the oldest unusable key is removed, never a usable one', async () => {
    const { ada, store } = await openHouse();
    const { body: first } = await ada.post('/keys', { kind: 'user', ...plain });
    const { owner: _, ...copy } = made(await store.find(first.key.id));
    for (let n = 0; n < 199; n += 1) await store.create({ ...copy, id: `k${n}`, createdAt: copy.createdAt + 1 + n });
    expect(await ada.post('/keys', { kind: 'user', ...plain })).toMatchObject(refusal(409, 'too_many_keys'));
    await store.revoke('k7', Date.now());
    expect((await ada.post('/keys', { kind: 'user', ...plain })).status).toBe(201);
    expect(await store.find('k7')).toBeUndefined();
    expect(await store.listOfOwner(ada.id)).toHaveLength(200);
  });
});

describe('a team’s key', () => {
  it('is created and changed by owners, seen by members, and hidden from others', async () => {
    const { ada, bob, eve, mallory, teamId, verifier } = await openTeam(['mallory']);
    const wanted = { kind: 'team', teamId, ...plain };
    expect(await eve.post('/keys', wanted)).toMatchObject(denied);
    expect(await mallory.post('/keys', wanted)).toMatchObject(notFound);
    const { body } = await bob.post('/keys', wanted);
    expect(body).toMatchObject({ key: { owner: { id: teamId, name: 'Blue' }, createdBy: 'bob' } });
    expect(await verifier.verify(body.raw)).toMatchObject({ kind: 'team', ownerId: teamId });
    const path = `/keys/${body.key.id}`;
    expect((await eve.get('/keys')).body).toEqual([body.key]);
    expect((await mallory.get('/keys')).body).toEqual([]);
    expect(await eve.delete(path)).toMatchObject(denied);
    expect(await mallory.delete(path)).toMatchObject(notFound);
    expect((await bob.patch(path, { name: 'renamed' })).body).toMatchObject({ name: 'renamed' });
    expect(await ada.post('/keys', { ...wanted, teamId: '000000000000' })).toMatchObject(notFound);
  });

  it('has the limits and the weight of its team and is revoked with it', async () => {
    const { ada, bob, teamId, verifier, announced } = await openTeam();
    const { body } = await bob.post('/keys', { kind: 'team', teamId, ...plain });
    await verifier.verify(body.raw);
    await ada.patch(`/teams/${teamId}`, { limits: { concurrentRequests: 3 }, weight: 7 });
    const limits = [{ party: `team:${teamId}`, limits: { concurrentRequests: 3 } }];
    expect(await verifier.verify(body.raw)).toMatchObject({ limits, ownerWeight: 7 });
    expect((await ada.delete(`/teams/${teamId}`)).status).toBe(204);
    expect(announced).toEqual([`team:${teamId}`, `team:${teamId}`]);
    await expect(verifier.verify(body.raw)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect((await ada.get('/keys')).body).toEqual([]);
    const left = { revokedAt: expect.any(Number), owner: { name: 'a deleted team' } };
    expect((await ada.get(`/keys/${body.key.id}`)).body).toMatchObject(left);
    expect((await bob.get('/session')).body.user.teams).toEqual([]);
  });
});

it('a router key is created, seen and revoked by administrators only', async () => {
  const { ada, bob, verifier } = await openTeam();
  const wanted = { kind: 'router', ...plain };
  expect(await bob.post('/keys', wanted)).toMatchObject(denied);
  const { body } = await ada.post('/keys', wanted);
  expect(await verifier.verify(body.raw)).toMatchObject({ kind: 'router', ownerId: undefined, limits: [] });
  expect((await bob.get('/keys')).body).toEqual([]);
  expect(await bob.delete(`/keys/${body.key.id}`)).toMatchObject(notFound);
  expect((await ada.delete(`/keys/${body.key.id}`)).status).toBe(204);
});
