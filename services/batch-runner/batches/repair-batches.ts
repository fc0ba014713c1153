import { progressedAt, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { endingJob, sliceJob, validationJob } from '#shared/background/batch-jobs.ts';

/** Milliseconds without progress after which a batch is looked at. */
const idleMs = 15_000;

export interface RepairParts {
  work: Pick<BatchWork, 'open' | 'doneSlices'>;
  jobs: Pick<BackgroundJobs, 'add' | 'addAll' | 'isUnderWay'>;
}

/**
 * Adds the jobs again that batches without progress need and that the queues may not have: whoever created a batch may have died before
 * adding its first job, and a failover of Redis loses what its replica has not received. A job that is there is not added twice.
 * @throws RouterError `store_unavailable`
 */
export async function repairBatches(parts: RepairParts, now = Date.now()): Promise<void> {
  for (const batch of await parts.work.open()) if (now - progressedAt(batch) >= idleMs) await addMissing(parts, batch);
}

async function addMissing({ work, jobs }: RepairParts, batch: BatchRecord): Promise<void> {
  const { id, state, slices, slicesLeft, ofOwner } = batch;
  if (state === 'validating') return jobs.add(validationJob(id));
  if (state !== 'running' || slicesLeft === 0) {
    // The one that was added with the slices may wait for some that are lost. While it joins files, they are not joined twice.
    if (!(await jobs.isUnderWay(endingJob(id)))) await jobs.add(endingJob(id, true));
    return;
  }
  const done = await work.doneSlices(id);
  const missing = Array.from({ length: slices }, (_, slice) => slice).filter((slice) => !done.has(slice));
  await jobs.addAll(
    'batch-slices',
    missing.map((slice) => sliceJob(id, slice, { ofOwner })),
  );
}
