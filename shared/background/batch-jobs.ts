import type { BackgroundJob } from './background-job.ts';

/** What a job of one batch is about. */
export interface BatchJob {
  batch: string;
}

/** What a job of one slice is about. */
export interface SliceJob extends BatchJob {
  slice: number;
}

export function validationJob(batch: string): BackgroundJob<BatchJob> {
  return { queue: 'batch-validations', id: batch, data: { batch } };
}

/** When the slices of a batch have their turn. */
export interface SliceTurns {
  /** Batches of its owner that are not over: as many progress as one of another owner does. */
  ofOwner: number;
  /** Priority of the slice that is next when the batch begins; 0 if none waits. */
  next?: number;
}

/**
 * A slice of a batch. Those with low numbers go first, so that all batches progress alike and a short one need not wait for a long one. A
 * batch begins behind the slice that is next, so that a stream of short ones does not hold back the rest of a long one.
 */
export function sliceJob(batch: string, slice: number, { ofOwner, next = 0 }: SliceTurns): BackgroundJob<SliceJob> {
  const priority = next + (slice + 1) * Math.max(1, ofOwner);
  return { queue: 'batch-slices', id: `${batch}-${slice}`, data: { batch, slice }, priority };
}

/** @param again whether the job that was added with the slices may be lost */
export function endingJob(batch: string, again = false): BackgroundJob<BatchJob> {
  return { queue: 'batch-endings', id: again ? `${batch}-again` : batch, data: { batch } };
}
