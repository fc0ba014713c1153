import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { createKey, createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { UnreadableRecordError } from '#shared/accounts/redis/stored-records.ts';
import { makeAdmin, openKeyStore, type OpenKeyStore } from '../../../helpers/accounts/open-key-store.ts';

let open: OpenKeyStore;
let redis: Redis;
let prefix: string;
beforeEach(async () => {
  open = await openKeyStore(inject('redisUrl'));
  ({ prefix } = open);
  ({ redis } = open.connection);
});

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
    const ada = await makeAdmin(open);
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
      countedAs: old.id,
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
    const ada = await makeAdmin(open);
    const { record } = await createKey(open.store, { kind: 'user', name: 'k', class: 'normal' });
    const ids = Array.from({ length: 200 }, (_, index) => `k${String(index).padStart(11, '0')}`);
    for (const id of ids) await open.store.create({ ...record, id, ownerId: ada.id });
    await redis.hset(`${prefix}key:${ids[0]}`, 'expiresAt', 'hunter2');
    expect(await open.store.create({ ...record, id: 'another', ownerId: ada.id })).toBe('too many');
  });
});

describe('the owner of a key', () => {
  it('whose record cannot be read costs the use of the own keys alone', async () => {
    const ada = await makeAdmin(open);
    const mine = await createOwnedKey(open.store, { kind: 'user', name: 'mine', class: 'low', ownerId: ada.id });
    const [other] = await makeKeys('other');
    if (typeof mine === 'string') throw new Error(mine);
    await redis.hset(`${prefix}user:${ada.id}`, 'limits', 'hunter2');
    // Both may have been made in the same millisecond.
    const listed = (await open.store.list()).toSorted((one, two) => one.name.localeCompare(two.name));
    expect(listed).toMatchObject([{ name: 'mine', owner: { blocked: true } }, { name: 'other' }]);
    const verifier = new KeyVerifier(open.store);
    await expect(verifier.verify(mine.raw)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await verifier.verify(other?.raw ?? '')).toMatchObject({ name: 'other' });
  });
});
