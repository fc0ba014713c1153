import type { JobsOptions } from 'bullmq';

export const backgroundQueues = [
  'batch-validations',
  'batch-slices',
  'batch-endings',
  'responses',
  'webhooks',
  'alert-mails',
  'scheduled',
] as const;
export type BackgroundQueue = (typeof backgroundQueues)[number];

export interface BackgroundJob<Data = object> {
  queue: BackgroundQueue;
  /** While a job with this id waits or runs in the queue, no other job with this id is added. The id must not contain `:`. */
  id: string;
  data: Data;
  /** The priority of the job, from 1 (highest) to 2,097,152. */
  priority?: number | undefined;
}

/** A job that is added every `everyMs` milliseconds. A failed job is not tried again before it is added the next time. */
export interface RepeatedJob extends Pick<BackgroundJob, 'queue' | 'id' | 'data'> {
  everyMs: number;
}

/** Milliseconds after the first failure of a job until it is tried again. */
const firstRetryMs = 1_000;
/** Maximum milliseconds after a failure of a job until it is tried again. */
const maxRetryMs = 60_000;

/** Maximum number of tries of a job. It is practically unlimited, because the job itself decides when it is too late for another try. */
const maxTries = 1_000_000;

/** Returns the library's options of a job. A finished job is removed, because its outcome is in the records that it has changed. */
export function toJobOptions({ id, priority }: Pick<BackgroundJob, 'id' | 'priority'>): JobsOptions {
  return {
    jobId: id,
    attempts: maxTries,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    removeOnFail: true,
    // The library would store the stack of each failure, which is in the logs already.
    stackTraceLimit: 0,
    ...(priority !== undefined && { priority: Math.min(2_097_152, Math.max(1, priority)) }),
  };
}

/** Returns the milliseconds until a job is tried again after a number of failures. They increase with each failure, up to a minute. */
export function computeRetryMs(failures: number): number {
  const ms = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(ms * (0.75 + Math.random() / 4));
}
