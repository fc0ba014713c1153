import { expect, it } from 'vitest';
import { useKeyStore } from '../../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

it('creating an admin token looks at a bounded number of other tokens, and expired ones leave the lists', async () => {
  const { accounts, redis, prefix } = open;
  const newToken = { name: 'ci', scopes: ['read'] as const, expiresAt: Date.now() + 600_000, ownerId: undefined };
  const first = await accounts.adminTokens.create(newToken);
  if (typeof first === 'string') throw new Error(first);
  const expired = Array.from({ length: 20 }, (_, at) => `expired${at}`);
  for (const id of expired) await redis.zadd(`${prefix}admin-tokens`, 1, id);
  for (const id of expired) await redis.zadd(`${prefix}admin-tokens-of:`, 1, id);
  await accounts.adminTokens.create(newToken);
  expect(await redis.zcard(`${prefix}admin-tokens`)).toBe(2);
  expect(await redis.zcard(`${prefix}admin-tokens-of:`)).toBe(2);
  // The tokens of many others: only some of them are looked at.
  const steps = redis.multi();
  for (let at = 0; at < 5_000; at += 1) steps.zadd(`${prefix}admin-tokens`, 2, `other${at}`);
  await steps.exec();
  await accounts.adminTokens.create(newToken);
  // The hundred random tokens may include the two unexpired ones. With the new token, 5,003 tokens are listed.
  const left = await redis.zcard(`${prefix}admin-tokens`);
  expect(left).toBeGreaterThanOrEqual(5_003 - 100);
  expect(left).toBeLessThanOrEqual(5_003 - 98);
  expect(await accounts.adminTokens.list()).toHaveLength(3);
});
