import { expect, inject, it } from 'vitest';
import { ExternalAccounts } from '#shared/accounts/external-accounts/external-accounts.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

it('of a person who has not signed in before voids the links that were made for a password', async () => {
  const { accounts, connection, prefix } = await openKeyStore(inject('redisUrl'));
  const keys = new OwnerKeys(() => [Buffer.alloc(32)]);
  const externals = new ExternalAccounts(connection.redis, prefix, { keys, report: () => undefined });
  const user = await accounts.users.create({ name: 'Bob', email: 'bob@example.com', role: 'member' });
  if (typeof user === 'string') throw new Error(user);
  const link = await accounts.links.issuePassword(user.id);
  expect(await accounts.links.find(link)).toMatchObject({ kind: 'password' });
  expect(await externals.link(user, { provider: 'p', issuer: 'https://p.example', subject: 's' })).toBe(true);
  expect(await accounts.links.find(link)).toBeUndefined();
});
