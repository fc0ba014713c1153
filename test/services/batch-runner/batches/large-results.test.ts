import { expect, it } from 'vitest';
import { storeResult } from '#services/batch-runner/lines/store-result.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Files } from '#shared/files/files.ts';
import { noUse, openRunningBatch } from '../../../helpers/batches/open-batch.ts';
import { until } from '../../../helpers/until.ts';

const stopping = new AbortController().signal;

/** Opens a running batch, and runners that have an answer to a line of it. */
async function running() {
  const opened = await openRunningBatch();
  const { id, owner, sealer, ledger, work, files, found, finish, run, read } = opened;
  const store = (text: string, through: Pick<Files, 'receive'> = files) =>
    storeResult({ files: through, stopping }, owner, { outcome: 'succeeded', text }, sealer);
  const record = async (line: number, text: string): Promise<boolean> => {
    const { result, discard } = await store(text);
    const isFirst = await work.recordLine({ id, slice: 0, line }, result, noUse, ledger.createEntry([]));
    await discard();
    return isFirst;
  };
  const end = async (): Promise<string | undefined> => {
    await run();
    await finish();
    return read((await found()).outputFile);
  };
  return { ...opened, store, record, end };
}

/** Returns a result line of this size. */
const line = (name: string, bytes: number): string => JSON.stringify({ name, picture: name.repeat(bytes) });

it('a large result is stored in an object whose name is in Redis, and the file of the batch has every line', async () => {
  const { id, redis, prefix, record, end, files, owner, counted, messages, found, inputFile } = await running();
  const [large, small] = [line('a', 200_000), line('b', 20)];
  expect([await record(0, large), await record(1, small)]).toEqual([true, true]);
  expect(await redis.hstrlen(`${prefix}batch-results:${id}:0`, '0')).toBeLessThan(100);
  expect((await end())?.split('\n').toSorted()).toEqual(['', large, small]);
  const { outputFile = '' } = await found();
  for (const file of [inputFile, outputFile]) await files.delete(owner, file);
  await until(async () => (await messages()) === 0);
  expect(await counted()).toBe(0);
  for (const name of ['file-holds', 'file-held', 'file-uploads'])
    expect(await redis.exists(`${prefix}${name}`)).toBe(0);
});

it('of two runners that answer a line, one records its large result, and the other one leaves nothing behind', async () => {
  const { record, end, messages, batches, id } = await running();
  const before = await messages();
  const texts = [line('a', 100_000), line('b', 100_000)];
  const outcomes = await Promise.all(texts.map((text) => record(0, text)));
  expect(outcomes.filter(Boolean)).toHaveLength(1);
  const kept = texts[outcomes.indexOf(true)] ?? '';
  // An object takes two messages: its content and its description.
  await until(async () => (await messages()) === before + 2);
  await batches.cancel(id);
  expect(await end()).toBe(`${kept}\n`);
});

it('a large result waits while the store is away, and is refused at once when the store is full', async () => {
  const { store, files } = await running();
  let calls = 0;
  const away: Files['receive'] = (...args) => {
    calls += 1;
    return calls === 1 ? Promise.reject(createStoreUnavailableError('away')) : files.receive(...args);
  };
  const { result, discard } = await store(line('a', 100_000), { receive: away });
  expect([calls, result.part?.bytes]).toEqual([2, line('a', 100_000).length + 1]);
  await discard();
  const full: Files['receive'] = () => Promise.reject(new RouterError('storage_full', 'It is full.'));
  await expect(store(line('a', 100_000), { receive: full })).rejects.toMatchObject({ code: 'storage_full' });
});

it('a large result whose owner is gone is recorded without its text', async () => {
  const { record, removeOwner, end, found } = await running();
  await removeOwner();
  expect([await record(0, line('a', 100_000)), await record(1, 'b')]).toEqual([true, true]);
  expect(await end()).toBeUndefined();
  expect(await found()).toMatchObject({ state: 'ended', succeeded: 2 });
});
