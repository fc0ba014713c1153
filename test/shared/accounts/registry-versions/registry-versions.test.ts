import { beforeEach, expect, it } from 'vitest';
import type { RegistryVersions } from '#shared/accounts/registry-versions/registry-versions.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const open = useKeyStore();
let versions: RegistryVersions;
beforeEach(() => void ({ registryVersions: versions } = open.accounts));

/** A version with this text, based on another one. */
function version(basedOn: number, text: string) {
  return { basedOn, text, config: { models: { [text]: {} } }, by: 'p1' };
}

it('the versions of the registry are none at first, then numbered, and keep text, content, time, person and note', async () => {
  expect([await versions.findNewest(), await versions.find(1)]).toEqual([undefined, undefined]);
  expect(await versions.list()).toEqual([]);
  const before = Date.now() - 2_000;
  expect(await versions.add({ ...version(0, 'one'), note: 'The first.' })).toEqual({ stored: 1 });
  expect(await versions.add({ ...version(1, 'two'), by: 'p2', revertOf: 1 })).toEqual({ stored: 2 });
  const around = [await versions.findNewest(), await versions.findPrevious(2), await versions.findPrevious(1)];
  expect(around.map((each) => each?.number)).toEqual([2, 1, undefined]);
  const first = await versions.find(1);
  expect(first).toMatchObject({ number: 1, text: 'one', config: { models: { one: {} } }, by: 'p1' });
  expect(first?.at).toBeGreaterThan(before);
  expect(await versions.list()).toMatchObject([
    { number: 2, by: 'p2', bytes: 3, revertOf: 1 },
    { number: 1, by: 'p1', bytes: 3, note: 'The first.' },
  ]);
  expect((await versions.find(2))?.etag).toBe((await versions.findNewest())?.etag);
});

it('the versions of the registry are refused when they are based on another one than the newest', async () => {
  await versions.add(version(0, 'one'));
  expect(await versions.add(version(0, 'late'))).toEqual({ newest: 1 });
  expect(await versions.add(version(7, 'early'))).toEqual({ newest: 1 });
  expect(await versions.find(1)).toMatchObject({ text: 'one' });
});

it('the versions of the registry that are stored at the same time result in one', async () => {
  await versions.add(version(0, 'one'));
  const texts = Array.from({ length: 20 }, (_, at) => `edit ${at}`);
  const outcomes = await Promise.all(texts.map((text) => versions.add(version(1, text))));
  const winners = texts.filter((_, at) => 'stored' in (outcomes[at] ?? {}));
  expect(winners).toHaveLength(1);
  expect(await versions.find(2)).toMatchObject({ text: winners[0] });
  expect(await versions.list()).toHaveLength(2);
});

it('the versions of the registry are the newest fifty, and the others leave nothing behind', async () => {
  for (let at = 0; at < 53; at++) await versions.add(version(at, `text ${at + 1}`));
  const numbers = (await versions.list()).map(({ number }) => number);
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, at) => 53 - at));
  expect(await versions.find(3)).toBeUndefined();
  expect(await versions.find(4)).toMatchObject({ text: 'text 4' });
  expect(await open.redis.keys(`${open.prefix}registry-version*`)).toHaveLength(51);
});

it('the versions of the registry that another release wrote are read as far as they can be, and the others stay readable', async () => {
  const { redis, prefix, unreadable } = open;
  await versions.add(version(0, 'one'));
  await versions.add(version(1, 'two'));
  await redis.hset(`${prefix}registry-version:1`, { colour: 'red' });
  await redis.hdel(`${prefix}registry-version:2`, 'by');
  expect(await versions.find(1)).toMatchObject({ text: 'one' });
  await expect(versions.find(2)).rejects.toThrow('registry version 2');
  expect(await versions.list()).toMatchObject([{ number: 1 }]);
  expect(unreadable.join()).toContain('registry version 2: by');
});
