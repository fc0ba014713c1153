import { expect, inject, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { HeavyWork } from '#services/batch-runner/heavy-work.ts';
import { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';

async function openProcesses() {
  const { connection, prefix } = await openKeyStore(inject('redisUrl'));
  return (name: string) => new HeavyWork(new UnfinishedWork(connection.redis, prefix, name));
}

it('work that two processes ended with is refused with an error, whatever else ended', async () => {
  const start = await openProcesses();
  const [first, second] = [start('first'), start('second')];
  await first.createTask('deadly').begin();
  const harmless = second.createTask('harmless');
  expect(await harmless.begin()).toBeUndefined();
  harmless.end();
  expect(await second.createTask('deadly').begin()).toBeUndefined();
  const third = start('third');
  const refused = { code: 'workers_died', message: expect.stringMatching(/Two processes/) };
  for (let time = 0; time < 2; time += 1) expect(await third.createTask('deadly').begin()).toMatchObject(refused);
  expect(await third.createTask('harmless').begin()).toBeUndefined();
});

it('a process that lives does not count as ended with its work, however often it begins it', async () => {
  const start = await openProcesses();
  const [first, second] = [start('first'), start('second')];
  for (let time = 0; time < 3; time += 1)
    for (const process of [first, second]) {
      const piece = process.createTask('line');
      expect(await piece.begin()).toBeUndefined();
      piece.end();
    }
});

it('heavy work begins one piece at a time, and a piece whose store is away does not block the next', async () => {
  let isAway = true;
  const begin = (): Promise<number> =>
    isAway ? Promise.reject(createStoreUnavailableError('away')) : Promise.resolve(0);
  const heavy = new HeavyWork({ begin, end: () => Promise.resolve() });
  await expect(heavy.createTask('a').begin()).rejects.toMatchObject({ code: 'store_unavailable' });
  isAway = false;
  const [b, c] = [heavy.createTask('b'), heavy.createTask('c')];
  await b.begin();
  const order: string[] = [];
  const begun = c.begin().then(() => order.push('c'));
  await sleep(20);
  order.push('b');
  b.end();
  await begun;
  expect(order).toEqual(['b', 'c']);
});
