import { describe, expect, it } from 'vitest';
import { repairBatches } from '#services/batch-runner/batches/repair-batches.ts';
import { sliceJob } from '#shared/background/batch-jobs.ts';
import { openBatch } from '../../../helpers/batches/open-batch.ts';

/** What is looked at then has made no progress for a quarter of a minute. */
const later = () => Date.now() + 15_000;

describe('a batch whose jobs are lost', () => {
  it('has its slices added again that are not over, once, although several runners do it', async () => {
    const { id, work, parts } = await openBatch();
    const { jobs } = parts;
    const slices = 1_200;
    await work.writeSlices(
      id,
      Array.from({ length: slices }, (_, at) => ({ from: at, to: at + 1, lines: 1 })),
    );
    const fields = { slices, slicesLeft: slices, ofOwner: 1 };
    await work.move(id, { from: 'validating', to: 'running', fields, timed: 'runningAt' });
    for (const slice of [0, 7, 1_199])
      await work.endSlice({ id, slice }, { recorded: 0, cancelled: 1, expired: 0 }, {});
    // One is there still.
    await jobs.add(sliceJob(id, 3, { ofOwner: 1 }));
    await Promise.all([repairBatches(parts, later()), repairBatches(parts, later())]);
    await repairBatches(parts, later());
    expect(await jobs.countWaiting('batch-slices')).toBe(slices - 3);
  });

  it('is left alone while it makes progress', async () => {
    const { parts } = await openBatch();
    const { jobs } = parts;
    await repairBatches(parts);
    expect(await jobs.countWaiting('batch-validations')).toBe(0);
    await repairBatches(parts, later());
    expect(await jobs.countWaiting('batch-validations')).toBe(1);
  });
});
