import { expect, it } from 'vitest';
import { repairBatches } from '#services/batch-runner/batches/repair-batches.ts';
import { createSliceJob } from '#shared/background/batch-jobs.ts';
import { openBatch, type OpenBatch } from '../../../helpers/batches/open-batch.ts';

/** Starts a batch whose slices have no jobs. */
async function begin({ work }: Pick<OpenBatch, 'work'>, id: string, slices: number): Promise<void> {
  await work.writeSlices(
    id,
    Array.from({ length: slices }, (_, at) => ({ from: at, to: at + 1, lines: 1, first: at + 1 })),
  );
  const fields = { slices, slicesLeft: slices, ofOwner: 1 };
  await work.move(id, { from: 'validating', to: 'running', fields, timed: 'runningAt' });
}

/** A time at which the batch has made no progress for 15 seconds. */
const later = () => Date.now() + 15_000;

it('a batch whose jobs are lost gets jobs for the slices that are not over, once, although several runners add them', async () => {
  const { id, work, parts } = await openBatch();
  const { jobs } = parts;
  const slices = 1_200;
  await begin({ work }, id, slices);
  for (const slice of [0, 7, 1_199]) await work.endSlice({ id, slice }, { recorded: 0, cancelled: 1, expired: 0 }, {});
  // One job still exists.
  await jobs.add(createSliceJob(id, 3, { ofOwner: 1 }));
  await Promise.all([repairBatches(parts, later()), repairBatches(parts, later())]);
  await repairBatches(parts, later());
  expect(await jobs.countWaiting('batch-slices')).toBe(slices - 3);
});

it('a batch whose jobs are lost is left alone while it makes progress', async () => {
  const { parts } = await openBatch();
  const { jobs } = parts;
  await repairBatches(parts);
  expect(await jobs.countWaiting('batch-validations')).toBe(0);
  await repairBatches(parts, later());
  expect(await jobs.countWaiting('batch-validations')).toBe(1);
});

it('a batch whose jobs are lost gets its slices behind those that are next in line', async () => {
  const opened = await openBatch();
  const { jobs } = opened.parts;
  await jobs.add(createSliceJob('other', 499, { ofOwner: 1 }));
  await begin(opened, opened.id, 3);
  await repairBatches(opened.parts, later());
  expect(await jobs.countWaiting('batch-slices')).toBe(4);
  expect(await jobs.findNextPriority('batch-slices')).toBe(500);
});

it('a batch whose jobs are lost is left alone until its pause ends, unless it was cancelled', async () => {
  const { id, work, batches, parts } = await openBatch();
  await begin({ work }, id, 3);
  await work.setPause(id, { until: Date.now() + 60_000, reason: 'a budget', pausesAllLines: true });
  await repairBatches(parts, later());
  expect(await parts.jobs.countWaiting('batch-slices')).toBe(0);
  await batches.cancel(id);
  await repairBatches(parts, later());
  expect(await parts.jobs.countWaiting('batch-slices')).toBe(3);
});

it('a batch whose jobs are lost gets its jobs although those of another batch cannot be added', async () => {
  const opened = await openBatch();
  const { id, work, parts } = opened;
  await opened.create('batch_2');
  for (const batch of [id, 'batch_2']) await begin(opened, batch, 2);
  for (const failing of [id, 'batch_2']) {
    const doneSlices = (batch: string) =>
      batch === failing ? Promise.reject(new Error('one slice cannot be read')) : work.listEndedSlices(batch);
    await repairBatches(
      { ...parts, batches: { listOpen: () => work.listOpen(), listEndedSlices: doneSlices } },
      later(),
    );
  }
  expect(await parts.jobs.countWaiting('batch-slices')).toBe(4);
});
