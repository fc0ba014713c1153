import { beforeEach, expect, it } from 'vitest';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { createKey, createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();
let files: FileRecords;
let teamId: string;
beforeEach(async () => {
  const bounds = { ownerBytes: 1_000_000, totalBytes: 10_000_000 };
  files = new FileRecords(open.redis, open.prefix, { bounds, report: () => undefined });
  ({ id: teamId } = await open.accounts.teams.create('Blue'));
});

/** A key of the team that an administrator has issued, and that has a file. */
async function issue(): Promise<FoundKey> {
  const facts = { kind: 'team', ownerId: teamId, name: 'issued', class: 'normal', createdBy: 'ada' } as const;
  const { record } = made(await createOwnedKey(open.store, { ...facts, issuedBy: 'ada' }));
  await keep(record.id);
  return record;
}

async function keep(owner: string): Promise<void> {
  const file = { id: `file-${owner}`, object: `object-${owner}`, purpose: 'user_data', name: 'a.txt' };
  await files.reserve({ owner, object: file.object, bytes: 10, begins: true, kind: 'file' });
  const facts = { mimeType: 'text/plain', bytes: 10, sha256: 'ab', lines: 1, createdAt: Date.now() };
  await files.keep(owner, { ...file, ...facts });
}

async function rotate({ id }: FoundKey, overlapMs: number, issuedBy?: string): Promise<FoundKey> {
  const old = made(await open.store.find(id));
  const { record } = made(await rotateKey(open.store, old, { createdBy: 'bob', issuedBy, overlapMs }));
  return made(await open.store.find(record.id));
}

const has = async (owner: string) => (await files.find(owner, `file-${owner}`)) !== undefined;
const revoke = ({ id }: FoundKey) => open.store.revoke(id, Date.now());

it('what an issued key has stored stays while the previous key can read it, whichever of the two is revoked first', async () => {
  const first = await issue();
  const second = await rotate(first, 60_000);
  const third = await rotate(second, 60_000);
  await revoke(third);
  expect(await has(first.id)).toBe(true);
  await revoke(first);
  expect(await has(first.id)).toBe(true);
  await revoke(second);
  expect(await has(first.id)).toBe(false);
});

it('what an issued key has stored goes with the last key of a rotation, also what an earlier key that is over has stored alone', async () => {
  const first = await issue();
  const second = await rotate(first, 0, 'ada');
  await keep(second.id);
  expect(second.storesAs).toBe(second.id);
  await revoke(second);
  expect(await Promise.all([has(first.id), has(second.id)])).toEqual([false, false]);
});

it('what an issued key has stored of a router key goes with its successor, but not before the key is over', async () => {
  const { record: first } = await createKey(open.store, { kind: 'router', name: 'router', class: 'normal' });
  await keep(first.id);
  const second = await rotate(first, 60_000);
  const third = await rotate(second, 0);
  await keep(second.id);
  await revoke(third);
  expect(await Promise.all([has(first.id), has(second.id)])).toEqual([true, false]);
  await revoke(first);
  expect(await has(first.id)).toBe(false);
});

it.each([
  ['stays when its successor', true],
  ['goes when its last key', false],
])('what an issued key has stored %s is over and makes room for another key', async (_, stays) => {
  const first = await issue();
  const over = stays ? await rotate(first, 60_000) : first;
  // The others are in use.
  await open.redis.hset(`${open.prefix}key:${over.id}`, 'expiresAt', Date.now() - 1);
  await fill();
  expect(await open.store.find(over.id)).toBeUndefined();
  expect(await has(first.id)).toBe(stays);
});

it('what a key that makes room has stored goes with a later key, if it could not be removed at first', async () => {
  const first = await issue();
  await open.redis.hset(`${open.prefix}key:${first.id}`, 'expiresAt', Date.now() - 1);
  // Redis refuses a step of the removal.
  const name = `${open.prefix}stored-by-age:${first.id}`;
  await open.redis.set(name, 'no sorted set');
  await expect(fill()).rejects.toMatchObject({ code: 'store_unavailable' });
  expect(await has(first.id)).toBe(true);
  await open.redis.del(name);
  await fill();
  expect(await has(first.id)).toBe(false);
});

/** Gives the team keys up to the maximum, and one more. */
async function fill(): Promise<void> {
  const { record } = await createKey(open.store, { kind: 'router', name: 'pattern', class: 'normal' });
  for (let n = (await open.store.listOfOwner(teamId)).length; n < 201; n++) {
    const id = `filler${String(n).padStart(6, '0')}`;
    expect(await open.store.create({ ...record, id, kind: 'team', ownerId: teamId })).toBe('created');
  }
}
