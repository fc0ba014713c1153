import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RunLaterError } from '#shared/background/background-worker.ts';
import {
  batchInput,
  openBatch,
  openRunningBatch,
  ownerBytes,
  type OpenBatch,
} from '../../../helpers/batches/open-batch.ts';
import { inPieces } from '../../../helpers/files/bytes.ts';
import { until } from '../../../helpers/until.ts';

async function running() {
  const opened = await openRunningBatch();
  const add = (bytes: number) =>
    opened.files.add(opened.owner, inPieces(randomBytes(bytes)), { purpose: 'user_data', name: 'other.bin' });
  return { ...opened, add };
}

/** Ends the batch, removes all files of its owner, and expects that nothing is left. */
async function expectNothingLeft({ owner, finish, files, counted, messages, redis, prefix }: OpenBatch) {
  await finish();
  const page = await files.list(owner, { newestFirst: true, limit: 100 });
  for (const file of page?.files ?? []) await files.delete(owner, file.id);
  await until(async () => (await messages()) === 0);
  expect(await counted()).toBe(0);
  for (const name of ['file-holds', 'file-held', 'file-uploads', 'batch-held:batch_1'])
    expect(await redis.exists(`${prefix}${name}`), name).toBe(0);
}

it('the input of a batch counts once, until the last batch that reads it is over, also if its file is removed', async () => {
  const opened = await openBatch();
  const { id, owner, files, inputFile, create, fail, found, counted, textOf, validate, finish } = opened;
  await create('batch_2');
  for (const batch of [id, 'batch_2']) await validate(batch);
  expect(await counted()).toBe(batchInput.length);
  await files.delete(owner, inputFile);
  expect(await files.find(owner, inputFile)).toBeUndefined();
  const { input = '' } = await found();
  await fail('batch_2');
  await finish('batch_2');
  expect([await textOf(input), await counted()]).toEqual([batchInput, batchInput.length]);
  await fail();
  await finish();
  expect([await textOf(input), await counted()]).toEqual([undefined, 0]);
  await expectNothingLeft(opened);
});

it('the input of a batch stays a file when the batch is over', async () => {
  const opened = await running();
  const { owner, files, inputFile, counted, fail, finish } = opened;
  await fail();
  await finish();
  expect((await files.find(owner, inputFile))?.bytes).toBe(batchInput.length);
  expect(await counted()).toBe(batchInput.length);
  await expectNothingLeft(opened);
});

describe('the stored results of a batch', () => {
  it('count from the end of a slice on', async () => {
    const opened = await running();
    const { run, record, found, counted, files, owner, finish } = opened;
    for (const line of [0, 1]) await record(line, 'x'.repeat(9_999));
    await run();
    expect(await found()).toMatchObject({ slicesLeft: 0 });
    expect(await counted()).toBe(batchInput.length + 20_000);
    await finish();
    const { outputFile = '' } = await found();
    expect((await files.find(owner, outputFile))?.bytes).toBe(20_000);
    expect(await counted()).toBe(batchInput.length + 20_000);
    await expectNothingLeft(opened);
  });

  it('are not produced while the quota is exhausted: the batch pauses with that reason, and continues when there is room', async () => {
    const opened = await running();
    const { run, record, add, found, batches, id, owner, files } = opened;
    const { id: other } = await add(ownerBytes - batchInput.length);
    await record(0, 'a');
    await expect(run()).rejects.toThrow(RunLaterError);
    expect(await found()).toMatchObject({ slicesLeft: 1, pausedFor: expect.stringContaining('delete some') });
    // No slice checks again until the pause ends.
    await files.delete(owner, other);
    await expect(run()).rejects.toThrow(RunLaterError);
    await opened.work.setPause(id, undefined);
    await record(1, 'b');
    await run({ parked: opened.openParked() });
    expect(await found()).toMatchObject({ slicesLeft: 0 });
    await batches.cancel(id);
    await expectNothingLeft(opened);
  });

  it('are stored when the batch is cancelled, although the quota is exhausted', async () => {
    const opened = await running();
    const { run, record, add, found, batches, id, counted } = opened;
    await add(ownerBytes - batchInput.length);
    await record(0, 'a');
    await batches.cancel(id);
    await run();
    expect(await found()).toMatchObject({ slicesLeft: 0, cancelled: 1 });
    expect(await counted()).toBeGreaterThan(ownerBytes);
    await expectNothingLeft(opened);
  });

  it('are removed, whichever runner wrote them, when the slice ended without them', async () => {
    const opened = await running();
    const { run, record, messages } = opened;
    for (const line of [0, 1]) await record(line, 'x');
    await Promise.all([run(), run(), run()]);
    // The input, and one object with results.
    await until(async () => (await messages()) === 4);
    await expectNothingLeft(opened);
  });

  it('are not stored for an owner who is gone, and the batch ends', async () => {
    const opened = await running();
    const { run, record, removeOwner, found, batches, id } = opened;
    await record(0, 'a');
    await removeOwner();
    await batches.cancel(id);
    await run();
    await expectNothingLeft(opened);
    expect(await found()).toMatchObject({ state: 'ended', cancelled: 1 });
  });
});
