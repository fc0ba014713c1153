import { beforeEach, describe, expect, it } from 'vitest';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { createFirstRouterKey, createKey, rotateKey, type CreatedKey } from '#shared/accounts/keys/create-key.ts';
import { maskKey } from '#shared/accounts/keys/key-record.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { storedNamesOfOwner } from '#shared/accounts/people/owned-kinds.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin, useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();
let first: CreatedKey;
beforeEach(async () => {
  first = made(await createFirstRouterKey(open.store));
});

const find = async ({ record: { id } }: CreatedKey) => made(await open.store.find(id));

describe('the first router key', () => {
  it('becomes a personal key of the first administrator, and looks and works as before', async () => {
    const masked = maskKey(await find(first));
    const ada = await makeAdmin(open);
    const key = await find(first);
    expect(key).toMatchObject({ kind: 'user', ownerId: ada.id, owner: { name: 'Ada' } });
    expect(key.storesAs).toBeUndefined();
    expect(maskKey(key)).toBe(masked);
    expect(await open.store.listOfOwner(ada.id)).toEqual([key]);
    expect(await new KeyVerifier(open.store).verify(first.rawKey)).toMatchObject({ kind: 'user', ownerId: ada.id });
  });

  it('takes the keys along that have replaced it', async () => {
    const second = made(await rotateKey(open.store, await find(first), { createdBy: 'ada', overlapMs: 60_000 }));
    const ada = await makeAdmin(open);
    expect((await open.store.listOfOwner(ada.id)).map(({ id }) => id)).toEqual([first.record.id, second.record.id]);
  });

  it.each(storedNamesOfOwner)('still owns what it has stored under %s', async (name) => {
    await open.redis.hset(`${open.prefix}${name}${first.record.id}`, 'id', '{}');
    await makeAdmin(open);
    expect((await find(first)).storesAs).toBe(first.record.id);
  });

  it('still reads a file that it has uploaded', async () => {
    const files = new FileRecords(open.redis, open.prefix, {
      bounds: { ownerBytes: 1_000_000, totalBytes: 10_000_000 },
      report: () => undefined,
    });
    await files.reserve({ owner: first.record.id, object: 'object', bytes: 10, begins: true, kind: 'file' });
    const file = { id: 'file-1', object: 'object', purpose: 'user_data', name: 'a.txt', mimeType: 'text/plain' };
    await files.keep(first.record.id, { ...file, bytes: 10, sha256: 'ab', lines: 1, createdAt: Date.now() });
    await makeAdmin(open);
    expect((await find(first)).storesAs).toBe(first.record.id);
  });

  it('stays without an owner if it is revoked', async () => {
    await open.store.revoke(first.record.id, Date.now());
    await makeAdmin(open);
    expect(await find(first)).toMatchObject({ kind: 'router' });
  });
});

it('other router keys stay without an owner', async () => {
  const service = await createKey(open.store, { kind: 'router', name: 'ci', class: 'normal' });
  const ada = await makeAdmin(open);
  expect(await find(service)).toMatchObject({ kind: 'router' });
  expect(await open.store.listOfOwner(ada.id)).toHaveLength(1);
});

it('a router key that was created with `rtr keys create` stays without an owner even if it is the first', async () => {
  await open.store.change(first.record.id, { name: 'ci' });
  const ada = await makeAdmin(open);
  expect(await open.store.listOfOwner(ada.id)).toEqual([]);
});
