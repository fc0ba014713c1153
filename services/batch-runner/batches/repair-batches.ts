import { progressedAt, stopOf, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { endingJob, sliceJob, validationJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds without progress after which a batch is looked at. */
const idleMs = 15_000;

export interface RepairParts {
  work: Pick<BatchWork, 'open' | 'doneSlices'>;
  jobs: Pick<BackgroundJobs, 'add' | 'addAll' | 'isUnderWay' | 'nextPriority'>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Adds the jobs again that batches without progress need and that the queues may not have: whoever created a batch may have died before
 * adding its first job, and a failover of Redis loses what its replica has not received. A job that is there is not added twice. One batch
 * for which that fails is left to the next time.
 * @throws RouterError `store_unavailable` if it cannot be known which batches there are
 */
export async function repairBatches(parts: RepairParts, now = Date.now()): Promise<void> {
  for (const batch of await parts.work.open()) {
    if (!isIdle(batch, now)) continue;
    try {
      await addMissing(parts, batch);
    } catch (error) {
      parts.log.warn({ err: error, batch: batch.id }, 'the lost jobs of a batch could not be added again');
    }
  }
}

/** Whether a batch should have made progress: one that is paused waits for the end of its pause. */
function isIdle(batch: BatchRecord, now: number): boolean {
  if (now - progressedAt(batch) < idleMs) return false;
  return (batch.pausedUntil ?? 0) <= now || stopOf(batch, now) !== undefined;
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
  const turns = { ofOwner, next: await jobs.nextPriority('batch-slices') };
  const missing = Array.from({ length: slices }, (_, slice) => slice).filter((slice) => !done.has(slice));
  await jobs.addAll(
    'batch-slices',
    missing.map((slice) => sliceJob(id, slice, turns)),
  );
}
