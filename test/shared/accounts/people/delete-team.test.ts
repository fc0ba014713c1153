import { expect, it } from 'vitest';
import { FileRecords } from '#shared/accounts/files/file-records.ts';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

it('a team that was deleted only in part can be deleted again, and nothing of it stays', async () => {
  const { accounts, redis, prefix } = open;
  const { id } = await accounts.teams.create('Blue');
  const settings = { kind: 'team', ownerId: id, name: 'laptop', class: 'normal', createdBy: 'ada' } as const;
  const key = made(await createOwnedKey(accounts.keys, settings));
  const issued = made(await createOwnedKey(accounts.keys, { ...settings, issuedBy: 'ada' }));
  await keepFile(id);
  await keepFile(issued.record.id);
  // Redis refuses a later step.
  await redis.set(`${prefix}webhooks-of:team:${id}`, 'no sorted set');
  await redis.set(`${prefix}stored-by-age:${id}`, 'no sorted set');
  await expect(accounts.deleteTeam(id)).rejects.toMatchObject({ code: 'store_unavailable' });
  expect((await accounts.keys.find(key.record.id))?.revokedAt).toBeDefined();
  expect(await hasFile(id)).toBe(true);
  await redis.del(`${prefix}webhooks-of:team:${id}`, `${prefix}stored-by-age:${id}`);
  expect(await accounts.deleteTeam(id)).toBe(0);
  expect(await Promise.all([hasFile(id), hasFile(issued.record.id)])).toEqual([false, false]);
  expect(await accounts.deleteTeam(id)).toBeUndefined();
  expect(await accounts.teams.list()).toEqual([]);
});

it('what was stored for a team until its record was deleted is removed when the deletion is repeated', async () => {
  const { accounts, redis, prefix } = open;
  const { id } = await accounts.teams.create('Blue');
  await keepFile(id);
  // As after a call that ended when it had deleted the record.
  await redis.del(`${prefix}team:${id}`);
  expect(await accounts.deleteTeam(id)).toBeUndefined();
  expect(await hasFile(id)).toBe(false);
});

it('the keys of deleted teams and people are in no list, and their records expire', async () => {
  const { accounts, redis, prefix } = open;
  const { id: teamId } = await accounts.teams.create('Blue');
  const person = { name: 'Bob', email: 'bob@example.com', role: 'member' } as const;
  const user = await accounts.users.create(person);
  if (user === 'email taken') throw new Error(user);
  const settings = { name: 'laptop', class: 'normal', createdBy: 'ada', expiresAt: Date.now() + 60_000 } as const;
  const ofTeam = made(await createOwnedKey(accounts.keys, { ...settings, kind: 'team', ownerId: teamId }));
  const ofUser = made(await createOwnedKey(accounts.keys, { ...settings, kind: 'user', ownerId: user.id }));
  await accounts.keys.noteUses(new Map([ofTeam, ofUser].map(({ record }) => [record.id, Date.now()])));
  expect(await accounts.deleteTeam(teamId)).toBe(1);
  expect(await accounts.deletePerson(user.id)).toBe('deleted');
  expect(await accounts.keys.list()).toEqual([]);
  expect(await accounts.keys.listExpiring(0, Infinity)).toEqual([]);
  expect(await redis.exists(`${prefix}keys-of:${teamId}`, `${prefix}keys-of:${user.id}`, `${prefix}key-uses`)).toBe(0);
  for (const { record } of [ofTeam, ofUser]) {
    expect((await accounts.keys.find(record.id))?.revokedAt).toBeDefined();
    expect(await redis.pttl(`${prefix}key:${record.id}`)).toBeGreaterThan(3_650 * 86_400_000);
  }
});

const files = () =>
  new FileRecords(open.redis, open.prefix, {
    bounds: { ownerBytes: 1_000_000, totalBytes: 10_000_000 },
    report: () => undefined,
  });

async function keepFile(owner: string): Promise<void> {
  const file = { id: `file-${owner}`, object: `object-${owner}`, purpose: 'user_data', name: 'a.txt' };
  await files().reserve({ owner, object: file.object, bytes: 10, begins: true, kind: 'file' });
  const facts = { mimeType: 'text/plain', bytes: 10, sha256: 'ab', lines: 1, createdAt: Date.now() };
  await files().keep(owner, { ...file, ...facts });
}

const hasFile = async (owner: string) => (await files().find(owner, `file-${owner}`)) !== undefined;
