import { expect, inject, it } from 'vitest';
import { setUpKeys } from '#services/rtr/up/set-up-keys.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';

it('the first start of a cluster prints the new key, and each start creates a link until there is an administrator', async () => {
  const { accounts, prefix } = await openKeyStore();
  const said: string[] = [];
  const setUp = () => setUpKeys(inject('redisUrl'), prefix.replace(/:$/, ''), (line) => said.push(line));
  const first = await setUp();
  expect(said).toEqual([`Your router key: ${first.newKey}`]);
  const second = await setUp();
  expect(second).toMatchObject({ newKey: undefined, maskedKeys: first.maskedKeys });
  expect(said).toHaveLength(1);
  const { links } = accounts;
  const [old, token] = [first.adminToken ?? '', second.adminToken ?? ''];
  expect(await links.find(old)).toBeUndefined();
  expect(await links.find(token)).toEqual({ kind: 'first-admin' });
  await links.createFirstAdmin(token, { name: 'Ada', email: 'ada@example.com', passwordHash: '' });
  expect(await setUp()).toMatchObject({ maskedKeys: first.maskedKeys, adminToken: undefined });
});
