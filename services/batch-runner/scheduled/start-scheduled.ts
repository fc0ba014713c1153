import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';

/** A periodic task. Each time that the task is due, one runner of the cluster runs it. */
export interface ScheduledTask {
  everyMs: number;
  /** May be called while an earlier call still runs, in this process or on another runner. */
  run: () => Promise<void>;
}

export interface ScheduledJob {
  /** Name of the task. A job with an unknown name is ignored, because during an update it may come from another version. */
  work: string;
}

/** Milliseconds after which all tasks are scheduled again, in case Redis has lost them. */
const scheduleMs = 30_000;

export interface ScheduledParts {
  access: BackgroundAccess;
  jobs: Pick<BackgroundJobs, 'repeat'>;
  /** All tasks by name. */
  tasks: Readonly<Record<string, ScheduledTask>>;
  log: Pick<Logger, 'debug'>;
  releases: Releases;
}

/**
 * Schedules the tasks for the whole cluster, and starts to run those that are due.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues
 */
export function startScheduled({ access, jobs, tasks, log, releases }: ScheduledParts): QueueWorker {
  const schedule = async (): Promise<void> => {
    try {
      for (const [name, { everyMs }] of Object.entries(tasks))
        await jobs.repeat({ queue: 'scheduled', id: name, data: { work: name }, everyMs });
    } catch (error) {
      log.debug({ err: error }, 'work could not be scheduled, trying again');
    }
  };
  void schedule();
  const timer = setInterval(() => void schedule(), scheduleMs);
  releases.add('schedule', () => clearInterval(timer));
  return new BackgroundWorker<ScheduledJob>({
    access,
    queue: 'scheduled',
    concurrency: Object.keys(tasks).length,
    handle: async ({ work: name }) => tasks[name]?.run(),
  });
}
