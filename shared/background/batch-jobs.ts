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

/** Slices with low numbers go first, so that all batches progress alike and a short one need not wait for a long one. */
export function sliceJob(batch: string, slice: number): BackgroundJob<SliceJob> {
  return { queue: 'batch-slices', id: `${batch}-${slice}`, data: { batch, slice }, priority: slice + 1 };
}

/** @param again whether the job that was added with the slices may be lost */
export function endingJob(batch: string, again = false): BackgroundJob<BatchJob> {
  return { queue: 'batch-endings', id: again ? `${batch}-again` : batch, data: { batch } };
}
