import { describe, expect, it, vi } from 'vitest';
import { openHouse, openTeam } from '../../../helpers/console/open-console.ts';
import { refusal, wrongField } from '../../../helpers/console/refusals.ts';

const plain = { kind: 'user', name: 'laptop', class: 'normal', limits: {} };
const adminSet = refusal(403, 'admin_set');

describe('the ceiling of a person', () => {
  it('bounds tiers, models and class of their keys, whatever the keys allow, from the moment that it is set', async () => {
    const { ada, bob, verifier } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', { ...plain, models: ['auto', 'a'], tiers: ['gpu', 'cloud'] });
    const ceiling = { models: ['a', 'b'], tiers: ['cloud', 'cli'], maxClass: 'low' };
    expect(await verifier.verify(body.raw)).toMatchObject({ class: 'normal', tiers: ['gpu', 'cloud'] });
    expect((await ada.patch(`/users/${bob.id}`, { ceiling })).body).toMatchObject({ ceiling });
    const bounded = { class: 'low', models: ['auto', 'a'], ownerModels: [['a', 'b']], tiers: ['cloud'] };
    expect(await verifier.verify(body.raw)).toMatchObject(bounded);
    expect((await bob.get('/keys')).body).toMatchObject([{ ceiling }]);
    const entry = { action: 'user.ceiling', details: { before: {}, after: ceiling } };
    expect((await ada.get('/audit')).body.data[0]).toMatchObject(entry);
    // A key whose tiers are all outside of the ceiling may use no tier.
    await ada.patch(`/users/${bob.id}`, { ceiling: { tiers: ['cli'] } });
    expect(await verifier.verify(body.raw)).toMatchObject({ tiers: [] });
    await ada.patch(`/users/${bob.id}`, { ceiling: {} });
    expect(await verifier.verify(body.raw)).not.toHaveProperty('ownerModels');
  });

  it('is set by administrators only, and refused when it is too large for a token', async () => {
    const { ada, bob } = await openHouse(['bob']);
    expect((await bob.patch(`/users/${bob.id}`, { ceiling: {} })).status).toBe(403);
    const models = Array.from({ length: 50 }, (_, at) => `${'m'.repeat(50)}${at}`);
    expect(await ada.patch(`/users/${bob.id}`, { ceiling: { models } })).toMatchObject(wrongField('ceiling.models'));
    // A header counts bytes, not characters.
    const wide = { models: Array.from({ length: 10 }, () => '模'.repeat(100)) };
    expect((await ada.patch(`/users/${bob.id}`, { ceiling: wide })).status).toBe(400);
    for (const ceiling of [{ tiers: ['moon'] }, { maxClass: 'royal' }, { model: ['a'] }, { models: [] }])
      expect((await ada.patch(`/users/${bob.id}`, { ceiling })).status).toBe(400);
  });
});

describe('the class high of a key', () => {
  const high = { class: 'high' };

  it('can be chosen where a ceiling permits it, ends with the permission, and does not survive a rotation', async () => {
    const { ada, bob, verifier } = await openHouse(['bob']);
    await ada.patch(`/users/${bob.id}`, { ceiling: { maxClass: 'high' } });
    const { body } = await bob.post('/keys', { ...plain, ...high });
    expect(body.key).not.toHaveProperty('classInForce');
    expect(await verifier.verify(body.raw)).toMatchObject(high);
    for (const ceiling of [{}, { maxClass: 'normal' }]) {
      await ada.patch(`/users/${bob.id}`, { ceiling });
      expect(await verifier.verify(body.raw)).toMatchObject({ class: 'normal' });
      expect((await bob.get('/keys')).body).toMatchObject([{ class: 'high', classInForce: 'normal' }]);
    }
    const { body: next } = await bob.post(`/keys/${body.key.id}/rotate`, { overlapMs: 0 });
    expect(next.key).toMatchObject({ class: 'normal' });
    await ada.patch(`/users/${bob.id}`, { ceiling: { maxClass: 'high' } });
    expect(await verifier.verify(next.raw)).toMatchObject({ class: 'normal' });
  });

  it('stays where an administrator has set it, and on a key of an administrator for as long as they are one', async () => {
    const { ada, bob, verifier, join } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', plain);
    await ada.patch(`/keys/${body.key.id}`, high);
    expect(await verifier.verify(body.raw)).toMatchObject(high);
    const { body: next } = await bob.post(`/keys/${body.key.id}/rotate`, { overlapMs: 0 });
    expect(await verifier.verify(next.raw)).toMatchObject(high);
    await ada.patch(`/users/${bob.id}`, { ceiling: { maxClass: 'low' } });
    expect(await verifier.verify(next.raw)).toMatchObject({ class: 'low' });
    const eve = await join(ada, 'eve@example.com', { role: 'admin' });
    const { body: hers } = await eve.post('/keys', { ...plain, ...high });
    expect(await verifier.verify(hers.raw)).toMatchObject(high);
    await ada.patch(`/users/${eve.id}`, { role: 'member' });
    expect(await verifier.verify(hers.raw)).toMatchObject({ class: 'normal' });
  });
});

it('the ceiling of a team bounds its keys, and is set by administrators, not by its owners', async () => {
  const { ada, bob, teamId, verifier } = await openTeam();
  const { body } = await bob.post('/keys', { ...plain, kind: 'team', teamId });
  expect((await bob.patch(`/teams/${teamId}`, { ceiling: {} })).status).toBe(403);
  const ceiling = { models: ['a'] };
  expect((await ada.patch(`/teams/${teamId}`, { ceiling })).body.ceiling).toEqual(ceiling);
  expect(await verifier.verify(body.raw)).toMatchObject({ ownerModels: [['a']] });
});

describe('a setting that an administrator has made on a key', () => {
  it('is not changed by the owner of the key, who may change all others', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', plain);
    const path = `/keys/${body.key.id}`;
    await ada.patch(path, { models: ['a'], limits: { costPerDay: 1 }, name: 'laptop' });
    expect((await bob.get('/keys')).body).toMatchObject([{ adminSet: ['models', 'limits.costPerDay'] }]);
    for (const models of [null, ['a', 'b']])
      expect(await bob.patch(path, { models })).toMatchObject(refusal(403, 'admin_set', 'models'));
    expect(await bob.patch(path, { limits: {} })).toMatchObject(refusal(403, 'admin_set', 'limits.costPerDay'));
    // As the pages send it: all settings, with unchanged values for those of the administrator.
    const limits = { costPerDay: 1, requestsPerMinute: 5 };
    const changed = await bob.patch(path, { name: 'desktop', models: ['a'], tiers: ['gpu'], limits });
    expect(changed).toMatchObject({ status: 200, body: { name: 'desktop', tiers: ['gpu'], limits } });
  });

  it('is locked also where the owner has set the same value before', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', { ...plain, models: ['a'], limits: { costPerDay: 5 } });
    const path = `/keys/${body.key.id}`;
    const set = async (change: object) => (await ada.patch(path, change)).body.adminSet;
    expect(await set({ name: 'desktop' })).toBeUndefined();
    expect(await set({ limits: { costPerDay: 5 } })).toEqual(['limits.costPerDay']);
    expect(await set({ class: 'normal' })).toEqual(['limits.costPerDay', 'class']);
    const upsert = { kind: 'user', userId: bob.id, models: ['a'] };
    const setThree = { status: 200, body: { key: { adminSet: { length: 3 } } } };
    expect(await ada.put('/keys-by-name/desktop', upsert)).toMatchObject(setThree);
    for (const change of [{ limits: {} }, { class: 'low' }, { models: null }])
      expect(await bob.patch(path, change)).toMatchObject(adminSet);
    // A value that is set already is no change, and none of these becomes the owner's.
    const { headers: _, ...before } = await ada.get(path);
    await ada.put('/keys-by-name/desktop', upsert);
    expect(await ada.get(path)).toMatchObject(before);
    expect(await bob.put('/keys-by-name/desktop', { kind: 'user', models: ['a'] })).toMatchObject(setThree);
  });

  it('stays when the key is rotated, and ends when an administrator removes it', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const { body } = await bob.post('/keys', plain);
    await ada.patch(`/keys/${body.key.id}`, { tiers: ['gpu'], class: 'low' });
    const { body: rotated } = await bob.post(`/keys/${body.key.id}/rotate`, { overlapMs: 0 });
    const path = `/keys/${rotated.key.id}`;
    for (const change of [{ tiers: null }, { class: 'normal' }])
      expect(await bob.patch(path, change)).toMatchObject(adminSet);
    expect((await ada.patch(path, { tiers: null })).body).toMatchObject({ adminSet: ['class'] });
    expect((await bob.patch(path, { tiers: ['cloud'] })).status).toBe(200);
  });

  it('is checked again where an administrator makes it while the owner changes something', async () => {
    const { ada, bob, accounts } = await openHouse(['bob']);
    const { keys } = accounts;
    const { body } = await bob.post('/keys', { ...plain, limits: { costPerDay: 50 } });
    const path = `/keys/${body.key.id}`;
    // Right after the owner's change was checked: the administrator's counts, and the rest of the owner's is made all the same.
    const change = vi.spyOn(keys, 'change');
    const between = (wanted: object) =>
      change.mockImplementationOnce(async (...asked) => {
        expect((await ada.patch(path, wanted)).status).toBe(200);
        return keys.change(...asked);
      });
    between({ limits: { costPerDay: 1 } });
    expect(await bob.patch(path, { limits: { costPerDay: 50 } })).toMatchObject(adminSet);
    between({ class: 'low' });
    expect(await bob.patch(path, { class: 'normal' })).toMatchObject(adminSet);
    between({ models: ['a'] });
    expect(await bob.patch(path, { tiers: ['gpu'] })).toMatchObject({ status: 200, body: { models: ['a'] } });
    const key = { class: 'low', limits: { costPerDay: 1 }, models: ['a'], tiers: ['gpu'] };
    expect((await bob.get('/keys')).body).toMatchObject([key]);
  });
});

it('an administrator makes a key for somebody else, who owns it and cannot remove its settings', async () => {
  const { ada, bob, verifier } = await openHouse(['bob']);
  const made = await ada.post('/keys', { ...plain, userId: bob.id, limits: { costPerMonth: 5 } });
  const key = { owner: { id: bob.id }, createdBy: 'Ada', adminSet: ['class', 'limits.costPerMonth'] };
  expect(made).toMatchObject({ status: 201, body: { key } });
  expect(await verifier.verify(made.body.raw)).toMatchObject({ ownerId: bob.id });
  expect(await bob.patch(`/keys/${made.body.key.id}`, { limits: { costPerMonth: 50 } })).toMatchObject(adminSet);
  // The class of a key that was made without one is not set.
  const { body } = await ada.post('/keys', { kind: 'user', name: 'made', userId: bob.id });
  expect(body.key).toMatchObject({ class: 'normal' });
  expect(body.key).not.toHaveProperty('adminSet');
  expect((await bob.patch(`/keys/${body.key.id}`, { class: 'low' })).status).toBe(200);
  expect((await bob.post('/keys', { ...plain, userId: ada.id })).status).toBe(404);
  expect((await ada.post('/keys', { ...plain, userId: 'nobody' })).status).toBe(404);
});

it('a new member starts with the limits and the ceiling of the settings; an administrator does not', async () => {
  const { ada, bob, verifier, join } = await openHouse(['bob']);
  const newMembers = { limits: { costPerMonth: 20 }, ceiling: { tiers: ['gpu', 'cli'] } };
  expect((await ada.patch('/settings', { newMembers })).body).toMatchObject({ newMembers });
  const eve = await join(ada, 'eve@example.com');
  const root = await join(ada, 'root@example.com', { role: 'admin' });
  const { body: people } = await ada.get('/users');
  const find = (id: string) => people.find((each: { id: string }) => each.id === id);
  expect(find(eve.id)).toMatchObject(newMembers);
  for (const { id } of [root, bob]) expect(find(id)).toMatchObject({ limits: {}, ceiling: {} });
  const { body } = await eve.post('/keys', plain);
  expect(await verifier.verify(body.raw)).toMatchObject({ tiers: ['gpu', 'cli'] });
});
