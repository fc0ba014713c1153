import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, createOwnedKey, type CreatedKey, type NewKey } from '#shared/accounts/keys/create-key.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, useKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { openThroughProxy } from '../../../helpers/accounts/open-through-proxy.ts';
import { until } from '../../../helpers/until.ts';

const refused = { code: 'invalid_api_key' };

const open = useKeyStore();
let verifier: KeyVerifier;
let ada: UserRecord;

beforeEach(async () => {
  verifier = new KeyVerifier(open.store);
  ada = await makeAdmin(open);
});

async function makeKey(settings: Partial<NewKey> = {}, ownerId = ada.id, { store } = open): Promise<CreatedKey> {
  return made(await createOwnedKey(store, { kind: 'user', name: 'k', class: 'normal', ...settings, ownerId }));
}

function stopClocks(): void {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

it('KeyVerifier, for keys of an owner, drops all keys of a person, and no others, when a change of the person is announced', async () => {
  const keys = [await makeKey(), await makeKey()];
  const other = await createKey(open.store, { kind: 'router', name: 'other', class: 'normal' });
  for (const { rawKey: raw } of [...keys, other]) await verifier.verify(raw);
  await open.accounts.users.change(ada.id, { limits: { tokensPerDay: 5 } }, 1);
  for (const { rawKey: raw } of keys) expect(verifier.verify(raw)).toMatchObject({ limits: [] });
  verifier.drop(`user:${ada.id}`);
  expect(verifier.verify(other.rawKey)).toMatchObject({ id: other.record.id });
  const limits = [{ party: `user:${ada.id}`, limits: { tokensPerDay: 5 } }];
  for (const { rawKey: raw } of keys) expect(await verifier.verify(raw)).toMatchObject({ limits });
});

it('KeyVerifier, for keys of an owner, begins anew when a change of the person is announced while a key is verified for the first time', async () => {
  const { rawKey: raw } = await makeKey();
  const find = open.store.find.bind(open.store);
  vi.spyOn(open.store, 'find').mockImplementationOnce(async (id) => {
    const found = await find(id);
    // The only administrator cannot be blocked by rights: written by hand.
    await open.redis.hset(`${open.prefix}user:${ada.id}`, 'blockedAt', 1);
    verifier.drop(`user:${ada.id}`);
    return found;
  });
  await expect(verifier.verify(raw)).rejects.toMatchObject(refused);
});

it('KeyVerifier, for keys of an owner, refuses a key whose owner is deleted, and one that was never created because its owner is deleted', async () => {
  const team = await open.accounts.teams.create('Blue');
  const { rawKey: raw, record } = await makeKey({ kind: 'team' }, team.id);
  await verifier.verify(raw);
  await open.redis.del(`${open.prefix}team:${team.id}`);
  verifier.drop(`team:${team.id}`);
  await expect(verifier.verify(raw)).rejects.toMatchObject(refused);
  expect(await open.store.create({ ...record, id: 'aaaaaaaaaaaa' })).toBe('no owner');
  expect(await open.store.find('aaaaaaaaaaaa')).toBeUndefined();
});

it('KeyVerifier, for keys of an owner, refuses a key of a person whom a provider has refused, unless they have a password', async () => {
  const { rawKey: raw } = await makeKey();
  await open.accounts.users.refuse(ada.id);
  await expect(verifier.verify(raw)).rejects.toMatchObject(refused);
  await open.redis.hset(`${open.prefix}user:${ada.id}`, 'passwordHash', 'old');
  verifier.drop(`user:${ada.id}`);
  expect(await verifier.verify(raw)).toMatchObject({ ownerId: ada.id });
  expect(await open.accounts.users.changePassword(ada.id, 'old', 'new')).toBe(true);
  expect((await open.accounts.users.find(ada.id))?.refusedAt).toBeUndefined();
});

it('KeyVerifier, for keys that expire, refuses them from their expiry on, even if it has just accepted them', async () => {
  stopClocks();
  const { rawKey: raw } = await makeKey({ expiresAt: Date.now() + 10_000 });
  await verifier.verify(raw);
  vi.advanceTimersByTime(9_990);
  expect(verifier.verify(raw)).toMatchObject({ ownerId: ada.id });
  vi.advanceTimersByTime(10);
  await expect(verifier.verify(raw)).rejects.toMatchObject(refused);
  expect(() => verifier.verify(raw)).toThrow('Incorrect API key');
});

it('KeyVerifier, for keys that expire, gives them no grace while Redis is away', async () => {
  const { proxy, behind: away } = await openThroughProxy();
  const user = await makeAdmin(away);
  stopClocks();
  const { rawKey: raw } = await makeKey({ expiresAt: Date.now() + 60_000 }, user.id, away);
  const itsVerifier = new KeyVerifier(away.store);
  await itsVerifier.verify(raw);
  proxy.cut();
  await until(() => away.redis.status !== 'ready');
  vi.advanceTimersByTime(40_000);
  expect(await itsVerifier.verify(raw)).toMatchObject({ ownerId: user.id });
  vi.advanceTimersByTime(20_001);
  await expect(itsVerifier.verify(raw)).rejects.toMatchObject(refused);
});
