import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { runSlice } from '#services/batch-runner/batches/run-slice.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';
import { inPieces } from '../../../helpers/files/bytes.ts';

it('batches whose parts fill the store begin no further slices, and their files can be joined', async () => {
  const totalBytes = 100_000;
  const { id, owner, runner, files, work, create, redis, prefix, validate, finish } = await openBatch({ totalBytes });
  const ids = [id, 'batch_2', 'batch_3'];
  for (const name of ids.slice(1)) await create(name);
  for (const batch of ids) await validate(batch);
  for (const batch of ids.slice(0, 2)) {
    const output = await files.receive(owner, inPieces(randomBytes(23_000)), { isResult: true });
    await work.endSlice({ id: batch, slice: 0 }, { recorded: 0, cancelled: 0, expired: 0 }, { output });
  }
  await expect(runSlice(runner, { batch: 'batch_3', slice: 0 })).rejects.toThrow(RunLaterError);
  expect((await work.find('batch_3'))?.pausedFor).toContain('full');
  const upload = files.add('bob', inPieces(randomBytes(10_000)), { purpose: 'user_data', name: 'other.bin' });
  await expect(upload).rejects.toMatchObject({ code: 'storage_full' });
  for (const batch of ids.slice(0, 2)) {
    await finish(batch);
    const { state, outputFile = '' } = (await work.find(batch)) ?? {};
    expect([state, (await files.find(owner, outputFile))?.bytes]).toEqual(['ended', 23_000]);
  }
  expect(await redis.get(`${prefix}file-joins`)).toBe('0');
});
