import { expect, it, onTestFinished, vi } from 'vitest';
import { deletePerson } from '#shared/accounts/people/delete-person.ts';
import { acceptedMs } from '#shared/accounts/sign-in/programs/access-tokens.ts';
import { accountNames } from '#shared/store/redis/account-names.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

it('the access tokens of a deleted person are refused for as long as they may last from the removal of the person, however long the rest took', async () => {
  const { accounts, redis, prefix } = open;
  const user = await accounts.users.create({ name: 'Bob', email: 'bob@example.com', role: 'member' });
  if (user === 'email taken') throw new Error(user);
  const { programsOf, revokedPrograms } = accountNames(prefix);
  await redis.zadd(programsOf(user.id), 1, 'program1');
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const removedAt = Date.now() + 600_000;
  const adminTokens = {
    list: () => {
      vi.setSystemTime(removedAt);
      return Promise.resolve([]);
    },
    remove: () => Promise.resolve(),
  };
  expect(await deletePerson({ redis, prefix, ...accounts, adminTokens }, user.id)).toBe('deleted');
  expect(Number(await redis.zscore(revokedPrograms, 'program1'))).toBe(removedAt + acceptedMs);
});
