import { findLastProgress, findStopReason, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createEndingJob, createSliceJob, createValidationJob } from '#shared/background/batch-jobs.ts';
import type { Logger } from '#shared/core/log.ts';

/** Milliseconds without progress after which a batch is checked. */
const idleMs = 15_000;

export interface RepairParts {
  batches: Pick<BatchWork, 'listOpen' | 'listEndedSlices'>;
  jobs: Pick<BackgroundJobs, 'add' | 'addAll' | 'isUnderWay' | 'findNextPriority'>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Adds missing jobs of batches that make no progress. Jobs may be missing because a process that created a batch died before it added the
 * first job, or because a failover of Redis loses what its replica has not received. An existing job is not added twice. If this fails for
 * a batch, the next call tries it again.
 * @throws RouterError `store_unavailable` if the batches cannot be listed
 */
export async function repairBatches(parts: RepairParts, now = Date.now()): Promise<void> {
  for (const batch of await parts.batches.listOpen()) {
    if (!isIdle(batch, now)) continue;
    try {
      await addMissingJobs(parts, batch);
    } catch (error) {
      parts.log.warn({ err: error, batch: batch.id }, 'the lost jobs of a batch could not be added again');
    }
  }
}

/** Returns whether a batch has made no progress for a while without being paused. A pause does not count if the batch has to stop. */
function isIdle(batch: BatchRecord, now: number): boolean {
  if (now - findLastProgress(batch) < idleMs) return false;
  return (batch.pausedUntil ?? 0) <= now || findStopReason(batch, now) !== undefined;
}

async function addMissingJobs({ batches, jobs }: RepairParts, batch: BatchRecord): Promise<void> {
  const { id, state, slices, slicesLeft, ofOwner } = batch;
  if (state === 'validating') return jobs.add(createValidationJob(id));
  if (state !== 'running' || slicesLeft === 0) {
    // The first ending job waits for the slice jobs, and waits for ever if one of them is lost. An ending job with another id replaces it.
    // While an ending job runs or is about to run, none is added, because two jobs would join the files twice.
    if (!(await jobs.isUnderWay(createEndingJob(id)))) await jobs.add(createEndingJob(id, true));
    return;
  }
  const done = await batches.listEndedSlices(id);
  const order = { ofOwner, next: await jobs.findNextPriority('batch-slices') };
  const missing = Array.from({ length: slices }, (_, slice) => slice).filter((slice) => !done.has(slice));
  await jobs.addAll(
    'batch-slices',
    missing.map((slice) => createSliceJob(id, slice, order)),
  );
}
