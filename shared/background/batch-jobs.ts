import type { BackgroundJob } from './background-job.ts';

export interface BatchJob {
  batch: string;
}

export interface SliceJob extends BatchJob {
  slice: number;
}

export function validationJob(batch: string): BackgroundJob<BatchJob> {
  return { queue: 'batch-validations', id: batch, data: { batch } };
}

/** The order of a batch's slices among those of other batches. */
export interface SliceOrder {
  /** Unfinished batches of its owner: together they progress as fast as one batch of another owner. */
  ofOwner: number;
  /** Priority of the slice that is next in line when the batch begins; 0 if none waits. */
  next?: number;
}

/**
 * Returns the job of a slice of a batch. Slices with low numbers go first, so that all batches progress alike and a short one need not wait
 * for a long one. A batch begins behind the slice that is next in line, so that a stream of short batches does not hold back the rest of a
 * long one.
 */
export function sliceJob(batch: string, slice: number, { ofOwner, next = 0 }: SliceOrder): BackgroundJob<SliceJob> {
  const priority = next + (slice + 1) * Math.max(1, ofOwner);
  return { queue: 'batch-slices', id: `${batch}-${slice}`, data: { batch, slice }, priority };
}

/** @param again whether the job that was added with the slices may be lost */
export function endingJob(batch: string, again = false): BackgroundJob<BatchJob> {
  return { queue: 'batch-endings', id: again ? `${batch}-again` : batch, data: { batch } };
}
