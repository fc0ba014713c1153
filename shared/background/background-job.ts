import type { JobsOptions } from 'bullmq';

/** The queues of background work, one for each kind. */
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

/** A job of background work. */
export interface BackgroundJob<Data = object> {
  queue: BackgroundQueue;
  /** While a job of this id waits or runs in the queue, another one is not added. Without `:`. */
  id: string;
  data: Data;
  /** From 1, highest, to 2,097,152. */
  priority?: number | undefined;
}

/** A job that is added again and again. One that fails is not tried again before its next time. */
export interface RepeatedJob extends Pick<BackgroundJob, 'queue' | 'id' | 'data'> {
  everyMs: number;
}

/** Milliseconds after which a job that failed is tried again, the first time and at most. */
const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * How often a job is tried: what it needs comes back at some time, and it decides itself when it is too late.
 */
const attempts = 1_000_000;

/** The library's options of a job. One that is over is removed: what became of it stands in the records of what it was for. */
export function optionsOf({ id, priority }: Pick<BackgroundJob, 'id' | 'priority'>): JobsOptions {
  return {
    jobId: id,
    attempts,
    backoff: { type: 'custom' },
    removeOnComplete: true,
    removeOnFail: true,
    // The library would keep the stack of each failure; the logs have them.
    stackTraceLimit: 0,
    ...(priority !== undefined && { priority: Math.min(2_097_152, Math.max(1, priority)) }),
  };
}

/** Milliseconds until a job that has failed so often is tried again: longer each time, up to a minute. */
export function retryMs(failures: number): number {
  const ms = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10));
  return Math.round(ms * (0.75 + Math.random() / 4));
}
