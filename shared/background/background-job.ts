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
  /** While a job with this id waits or runs in the queue, another one is not added. Without `:`. */
  id: string;
  data: Data;
  /** From 1 (highest) to 2,097,152. */
  priority?: number | undefined;
}

/** A job that is added again and again. If it fails, it is not tried again before its next time. */
export interface RepeatedJob extends Pick<BackgroundJob, 'queue' | 'id' | 'data'> {
  everyMs: number;
}

/** Milliseconds after which a failed job is tried again: the first time, and at most. */
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * Maximum of tries of a job, practically without end: what it needs comes back at some time, and the job itself decides when it is too
 * late.
 */
const maxTries = 1_000_000;

/** Returns the library's options of a job. A job that is over is removed: its outcome is in the records that it was for. */
export function jobOptions({ id, priority }: Pick<BackgroundJob, 'id' | 'priority'>): JobsOptions {
  return {
    jobId: id,
    attempts: maxTries,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    removeOnFail: true,
    // The library would keep the stack of each failure; the logs have them.
    stackTraceLimit: 0,
    ...(priority !== undefined && { priority: Math.min(2_097_152, Math.max(1, priority)) }),
  };
}

/** Returns the milliseconds until a job is tried again after so many failures: longer each time, up to a minute. */
export function retryMs(failures: number): number {
  const ms = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(ms * (0.75 + Math.random() / 4));
}
