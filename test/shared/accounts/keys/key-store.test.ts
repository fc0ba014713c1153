import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFirstRouterKey, createKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import { findLiveKeysByParty } from '#shared/accounts/keys/key-record.ts';
import { readAllValues } from '../../../helpers/accounts/read-all-values.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { openKeyStore, useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

describe('KeyStore', () => {
  it('lists every key, oldest first', async () => {
    const { store } = open;
    const { record } = await createKey(store, { kind: 'user', name: 'second', class: 'low' });
    await store.create({ ...record, id: 'zzzzzzzzzzzz', name: 'first', createdAt: record.createdAt - 1 });
    expect((await store.list()).map(({ name }) => name)).toEqual(['first', 'second']);
  });

  it('returns one key for each use that is counted: the newest usable one', async () => {
    const { store } = open;
    // All within one millisecond.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    onTestFinished(() => void vi.restoreAllMocks());
    const live = async (): Promise<[string, string][]> =>
      [...findLiveKeysByParty(await store.list(), Date.now())].map(([party, { id }]) => [party, id]);
    const { record: first } = await createKey(store, { kind: 'router', name: 'rotated', class: 'normal' });
    const { record: other } = await createKey(store, { kind: 'router', name: 'other', class: 'normal' });
    const second = made(await rotateKey(store, first, { createdBy: 'nobody', overlapMs: 60_000 }));
    const others = [`key:${other.id}`, other.id];
    expect(await live()).toEqual(expect.arrayContaining([[`key:${first.id}`, second.record.id], others]));
    // The previous key goes on for as long as the two overlap.
    await store.revoke(second.record.id, Date.now());
    expect(await live()).toEqual(expect.arrayContaining([[`key:${first.id}`, first.id], others]));
    await store.revoke(first.id, Date.now());
    expect(await live()).toEqual([others]);
  });

  it('returns what was stored, revokes once, and reports when there is nothing to revoke', async () => {
    const { record } = await createKey(open.store, { kind: 'team', name: 'Blue – 蓝', class: 'high' });
    expect(await open.store.find(record.id)).toEqual(record);
    expect(await open.store.revoke(record.id, 1_000)).toBe('revoked');
    expect(await open.store.revoke(record.id, 2_000)).toBe('revoked before');
    expect(await open.store.find(record.id)).toEqual({ ...record, revokedAt: 1_000 });
    expect(await open.store.revoke('000000000000', 3_000)).toBe('unknown');
    expect(await open.store.find('000000000000')).toBeUndefined();
  });

  it('lets exactly one of many simultaneous set-ups create the first router key', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => openKeyStore(undefined, open.prefix)));
    const made = await Promise.all([open, ...others].map(({ store }) => createFirstRouterKey(store)));
    expect(made.filter((key) => key !== undefined)).toHaveLength(1);
    expect((await open.store.list()).filter(({ kind }) => kind === 'router')).toHaveLength(1);
  });

  it.each(['in use', 'revoked'])('creates no first router key if another was created before, now %s', async (state) => {
    const { store } = open;
    const { record } = await createKey(store, { kind: 'router', name: 'by hand', class: 'normal' });
    if (state === 'revoked') await store.revoke(record.id, Date.now());
    expect(await store.hasHadRouterKey()).toBe(true);
    expect(await createFirstRouterKey(store)).toBeUndefined();
    expect(await store.createFirstRouterKey({ ...record, id: '000000000000' })).toBe(false);
    expect(await store.list()).toHaveLength(1);
  });

  it('stores nothing that a secret can be read from, only its Argon2id hash with the agreed cost', async () => {
    const { store, prefix } = open;
    const user = await createKey(store, { kind: 'user', name: 'a person', class: 'normal' });
    const team = await createKey(store, { kind: 'team', name: 'a team', class: 'normal' });
    // The keys of people and teams do not count.
    const keys = [made(await createFirstRouterKey(store)), user, team];
    const stored = await readAllValues(open.redis, prefix);
    for (const { rawKey: raw, record } of keys) {
      expect(stored).toContain(record.id);
      const secret = raw.slice(-40);
      for (let at = 0; at + 8 <= secret.length; at++) expect(stored).not.toContain(secret.slice(at, at + 8));
      expect(record.hash).toMatch(/^\$argon2id\$v=19\$m=256,(t=1,p=1|p=1,t=1)\$/);
    }
  });
});
