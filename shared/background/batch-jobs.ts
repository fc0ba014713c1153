import type { BackgroundJob } from './background-job.ts';

export interface BatchJob {
  batch: string;
}

export interface SliceJob extends BatchJob {
  slice: number;
}

export function createValidationJob(batch: string): BackgroundJob<BatchJob> {
  return { queue: 'batch-validations', id: batch, data: { batch } };
}

/** The values that determine the order of a batch's slices among the slices of other batches. */
export interface SliceOrder {
  /**
   * Number of unfinished batches of the batch's owner. Together, all batches of one owner progress as fast as a single batch of another
   * owner.
   */
  ofOwner: number;
  /** Priority of the first waiting slice when the batch begins; 0 if no slice waits. */
  next?: number;
}

/**
 * Returns the job of a slice of a batch. Slices with low numbers come first, so that all batches progress alike, and a short batch need not
 * wait for a long one. The slices of a new batch come after the first waiting slice, so that a stream of short batches does not delay the
 * last slices of a long batch.
 */
export function createSliceJob(
  batch: string,
  slice: number,
  { ofOwner, next = 0 }: SliceOrder,
): BackgroundJob<SliceJob> {
  const priority = next + (slice + 1) * Math.max(1, ofOwner);
  return { queue: 'batch-slices', id: `${batch}-${slice}`, data: { batch, slice }, priority };
}

/**
 * Returns the job that ends a batch.
 * @param isRepeated whether to use a different id from the job that was added with the slices, because that job may be lost
 */
export function createEndingJob(batch: string, isRepeated = false): BackgroundJob<BatchJob> {
  return { queue: 'batch-endings', id: isRepeated ? `${batch}-again` : batch, data: { batch } };
}
