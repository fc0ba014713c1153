import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { BackgroundWorker } from '#shared/background/background-worker.ts';
import type { RunnerContext } from '../context.ts';
import { createScheduledTasks, type ScheduledTask } from './create-scheduled-tasks.ts';

export interface ScheduledJob {
  /** Name of the task. A job with an unknown name is ignored, because during an update it may come from another version. */
  work: string;
}

/** Milliseconds after which all tasks are scheduled again, in case Redis has lost them. */
const scheduleMs = 30_000;

/** Schedules the periodic tasks for the whole cluster, and starts to run those that are due. */
export function startScheduled(
  context: RunnerContext,
  batches: BatchWork,
  webhooks: Pick<Webhooks, 'deliveries'>,
): void {
  const { access, jobs, queues, log, releases } = context;
  const tasks: Readonly<Record<string, ScheduledTask>> = createScheduledTasks(context, batches, webhooks);
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
  const worker = new BackgroundWorker<ScheduledJob>({
    access,
    queue: 'scheduled',
    concurrency: Object.keys(tasks).length,
    handle: async ({ work: name }) => tasks[name]?.run(),
  });
  queues.set('scheduled', worker);
}
