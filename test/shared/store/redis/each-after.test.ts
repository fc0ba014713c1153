import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, inject, it, onTestFinished } from 'vitest';
import { eachAfterScript, RedisScript, scriptStart } from '#shared/store/redis/redis-script.ts';
import { openKeyStore } from '../../../helpers/accounts/open-key-store.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';
import { watchRedisCommands } from '../../../helpers/servers/watch-redis-commands.ts';
import { until } from '../../../helpers/until.ts';

/** Opens a stream with events of these sizes, and a function that reads from it as the scripts do. */
async function open(sizes: readonly number[]) {
  const { redis, prefix } = await openKeyStore();
  const stream = `${prefix}events`;
  for (const [at, size] of sizes.entries()) await redis.xadd(stream, `${at + 1}-0`, 'e', 'x'.repeat(size));
  const file = join(temporaryFolder(), 'read.lua');
  writeFileSync(
    file,
    `local numbers = {}
    eachAfter(prefix .. 'events', args.after, args.most, args.maxBytes, function(last) table.insert(numbers, last) end)
    return numbers`,
  );
  const script = new RedisScript(scriptStart, eachAfterScript, pathToFileURL(file));
  const counts: number[] = [];
  let isSeen = false;
  const watch = await watchRedisCommands(inject('redisUrl'), ([command, name, ...args]) => {
    if (name === stream && command?.toUpperCase() === 'XRANGE') counts.push(Number(args.at(-1)));
    if (name === `${stream}-end`) isSeen = true;
  });
  onTestFinished(() => watch.stop());
  const read = (after: number, most: number, maxBytes: number) =>
    script.run(redis, { args: { prefix, after, most, maxBytes } });
  /** Returns the number of entries that Redis was asked for so far. */
  const asked = async (): Promise<number> => {
    await redis.get(`${stream}-end`);
    await until(() => isSeen);
    return counts.reduce((sum, count) => sum + count, 0);
  };
  return { read, asked };
}

it('events are read in order up to the bounds, from any place', async () => {
  const { read } = await open(Array.from({ length: 200 }, () => 10));
  expect(await read(-1, 120, 1e6)).toEqual(Array.from({ length: 120 }, (_, at) => at));
  expect(await read(119, 1_000, 1e6)).toEqual(Array.from({ length: 80 }, (_, at) => 120 + at));
  expect(await read(149, 1_000, 35)).toEqual([150, 151, 152, 153]);
  expect(await read(199, 10, 10)).toEqual([]);
});

it('Redis reads hardly more of large events than fits into an answer', async () => {
  const { read, asked } = await open(Array.from({ length: 40 }, () => 100_000));
  expect(await read(-1, 50, 256 * 1024)).toEqual([0, 1, 2]);
  expect(await asked()).toBeLessThanOrEqual(4);
});
