import { expect, it } from 'vitest';
import { NameLock } from '#shared/store/redis/name-lock.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();

it('work under a lock keeps its result if the lock cannot be released', async () => {
  const lock = new NameLock(open.redis, open.prefix);
  const work = async () => {
    open.redis.disconnect();
    return 'made';
  };
  expect(await lock.runLocked('name', work)).toBe('made');
});

it('work under a lock keeps its error if the lock cannot be released', async () => {
  const lock = new NameLock(open.redis, open.prefix);
  const work = async () => {
    open.redis.disconnect();
    throw new Error('not made');
  };
  await expect(lock.runLocked('name', work)).rejects.toThrow('not made');
});
