import { expect, it } from 'vitest';
import { made } from '../../../../helpers/accounts/made.ts';
import { openExternals } from '../../../../helpers/accounts/open-externals.ts';
import { readAllValues } from '../../../../helpers/accounts/read-all-values.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';

const subject = { provider: 'p', issuer: 'https://p.example', subject: 's' };

/** The stored accounts at providers, and Bob, who has none. */
async function open() {
  const store = await openKeyStore();
  const user = made(await store.accounts.users.create({ name: 'Bob', email: 'bob@example.com', role: 'member' }));
  return { ...store, externals: openExternals(store), user };
}

it('linking an account at a provider to a person who has not signed in before voids links that were made to set a password', async () => {
  const { accounts, externals, user } = await open();
  const link = await accounts.links.issuePassword(user.id);
  expect(await accounts.links.find(link)).toMatchObject({ kind: 'password' });
  expect(await externals.link(user, subject)).toBe(true);
  expect(await accounts.links.find(link)).toBeUndefined();
});

it('an account at a provider is stored for its own person, and for nobody else', async () => {
  const { externals, user, redis, prefix } = await open();
  const account = { ...subject, goodUntil: 1, refreshToken: 'secret' };
  expect(await externals.store(user.id, account)).toBeUndefined();
  expect(await externals.find(user.id)).toBeUndefined();
  expect(await externals.link(user, subject)).toBe(true);
  expect(await externals.store(user.id, account)).toBeDefined();
  expect(await externals.store('somebody', account)).toBeUndefined();
  expect(await externals.find(user.id)).toMatchObject({ ...account, isSealed: false });
  expect(await readAllValues(redis, prefix)).not.toContain('secret');
});

const site = 'https://p.example';

it.each([
  [site, `${site}/`],
  [`${site}/`, site],
])('an account that was linked at %s is found and stored at %s, and keeps its stored form', async (issuer, named) => {
  const { accounts, externals, user, redis, prefix } = await open();
  expect(await externals.link(user, { ...subject, issuer })).toBe(true);
  expect(await externals.findPerson({ issuer: named, subject: 's' })).toBe(user.id);
  expect(await externals.store(user.id, { ...subject, issuer: named, goodUntil: 1 })).toBeDefined();
  expect(await externals.store('somebody', { ...subject, issuer: named, goodUntil: 2 })).toBeUndefined();
  expect(await externals.find(user.id)).toMatchObject({ ...subject, issuer, goodUntil: 1, isSealed: false });
  expect(await redis.hgetall(`${prefix}external-accounts`)).toEqual({ [`${issuer} s`]: user.id });
  for (const other of [`${site}/realm`, `${site}//`, `${site}:8443`, 'http://p.example'])
    expect(await externals.findPerson({ issuer: other, subject: 's' })).toBeUndefined();
  expect(await accounts.deletePerson(user.id)).toBe('deleted');
  expect(await externals.findPerson({ issuer: named, subject: 's' })).toBeUndefined();
});

it('an account at an issuer with a path is not that at the same issuer with a slash', async () => {
  const { externals, user } = await open();
  expect(await externals.link(user, { ...subject, issuer: 'https://p.example/realm' })).toBe(true);
  expect(await externals.findPerson({ issuer: 'https://p.example/realm/', subject: 's' })).toBeUndefined();
});

it('an account at a provider is checked by one node at a time, and a node that took too long does not free it for a third', async () => {
  const { externals, user, redis, prefix } = await open();
  const first = (await externals.beginCheck(user.id)) ?? '';
  expect(await externals.beginCheck(user.id)).toBeUndefined();
  await redis.del(`${prefix}external-check:${user.id}`);
  const second = (await externals.beginCheck(user.id)) ?? '';
  await externals.endCheck(user.id, first);
  expect(await externals.isBeingChecked(user.id)).toBe(true);
  await externals.endCheck(user.id, second);
  expect(await externals.isBeingChecked(user.id)).toBe(false);
});

it('an account at a provider that this release cannot read is an error, not a missing account', async () => {
  const { externals, user, redis, prefix } = await open();
  await redis.hset(`${prefix}external-account:${user.id}`, { provider: 'p' });
  await expect(externals.find(user.id)).rejects.toMatchObject({ code: 'store_unavailable' });
});
