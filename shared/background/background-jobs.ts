import { FlowProducer, Queue } from 'bullmq';
import { RouterError } from '#shared/core/errors.ts';
import { producerConnection, queuePrefix, type BackgroundAccess } from './background-access.ts';
import {
  backgroundQueues,
  optionsOf,
  type BackgroundJob,
  type BackgroundQueue,
  type RepeatedJob,
} from './background-job.ts';

/** Milliseconds for an answer. */
const longestMs = 3_000;

/** Jobs that are added in one call. */
const addedAtOnce = 500;

/** Jobs of one queue, by where they are. */
export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/** A job whose last attempt failed, and that is tried again. */
export interface FailingJob {
  id: string;
  /** Attempts that failed. */
  failures: number;
  /** When the last one began, in ms since 1970. */
  lastAt: number | undefined;
  reason: string;
}

/** Jobs of one queue that are looked at for failures. */
const lookedAt = 300;

/** Characters of a reason. */
const longestReason = 300;

/** Adds background work to its queues. Every method throws RouterError `store_unavailable` when Redis does not answer. */
export class BackgroundJobs {
  readonly #queues: Record<BackgroundQueue, Queue>;
  readonly #flows: FlowProducer;

  constructor(access: BackgroundAccess) {
    // A check of the version that fails, because Redis restarts at that moment, would fail every later call as well.
    const options = {
      connection: producerConnection(access),
      prefix: queuePrefix(access.prefix),
      skipVersionCheck: true,
    };
    const onError = (error: Error): void => access.log.debug({ err: error }, 'the queues of background work are away');
    const open = (name: BackgroundQueue): Queue => new Queue(name, options).on('error', onError);
    this.#queues = {
      'batch-validations': open('batch-validations'),
      'batch-slices': open('batch-slices'),
      'batch-endings': open('batch-endings'),
      responses: open('responses'),
      webhooks: open('webhooks'),
      'alert-mails': open('alert-mails'),
      scheduled: open('scheduled'),
    };
    this.#flows = new FlowProducer(options);
    this.#flows.on('error', onError);
  }

  /** Adds a job, unless one of its id waits or runs. */
  async add(job: BackgroundJob): Promise<void> {
    await asked(this.#queues[job.queue].add(job.queue, job.data, optionsOf(job)));
  }

  /** Adds the jobs of one queue of which none of the same id waits or runs, a few hundred in one call. */
  async addAll(queue: BackgroundQueue, jobs: readonly Omit<BackgroundJob, 'queue'>[]): Promise<void> {
    for (let first = 0; first < jobs.length; first += addedAtOnce) {
      const some = jobs.slice(first, first + addedAtOnce);
      await asked(
        this.#queues[queue].addBulk(some.map((job) => ({ name: queue, data: job.data, opts: optionsOf(job) }))),
      );
    }
  }

  /** Adds a job that begins when others are done, and those, all or nothing. */
  async addAfter(job: BackgroundJob, others: readonly BackgroundJob[]): Promise<void> {
    const flowOf = (each: BackgroundJob) => ({
      name: each.queue,
      queueName: each.queue,
      data: each.data,
      opts: optionsOf(each),
    });
    await asked(this.#flows.add({ ...flowOf(job), children: others.map(flowOf) }));
  }

  /**
   * Adds a job now, and then each time that so many milliseconds have passed, once in the whole cluster. Called again, it leaves a
   * schedule as it is, and makes one anew that a failover of Redis has lost.
   */
  async repeat({ queue, id, data, everyMs }: RepeatedJob): Promise<void> {
    const opts = { attempts: 1, removeOnComplete: true, removeOnFail: true };
    await asked(this.#queues[queue].upsertJobScheduler(id, { every: everyMs }, { name: queue, data, opts }));
  }

  /** Removes a job that waits. One that runs stays. */
  async remove({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<void> {
    await asked(this.#queues[queue].remove(id));
  }

  /** Whether a job waits to begin or be tried again, or runs: not one that is not there, and not one that waits for others. */
  async isUnderWay({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<boolean> {
    const state = await asked(this.#queues[queue].getJobState(id));
    return state !== 'unknown' && state !== 'waiting-children';
  }

  /** How many jobs of a queue could begin, if somebody took them. */
  async countWaiting(queue: BackgroundQueue): Promise<number> {
    return (await this.#count(queue)).waiting;
  }

  /** The priority of the job that a worker of a queue would take next; 0 if no job with a priority waits. */
  async nextPriority(queue: BackgroundQueue): Promise<number> {
    const [next] = await asked(this.#queues[queue].getPrioritized(0, 0));
    return next?.priority ?? 0;
  }

  /** How many jobs each queue has. */
  async counts(): Promise<Record<BackgroundQueue, QueueCounts>> {
    const counted = await Promise.all(backgroundQueues.map(async (name) => [name, await this.#count(name)] as const));
    return Object.fromEntries(counted) as Record<BackgroundQueue, QueueCounts>;
  }

  /** Jobs of a queue that have failed and wait until they are tried again, the next one first. */
  async failing(queue: BackgroundQueue, most: number): Promise<FailingJob[]> {
    const delayed = await asked(this.#queues[queue].getDelayed(0, lookedAt - 1));
    const failed = delayed.filter(({ attemptsMade }) => attemptsMade > 0).slice(0, most);
    return failed.map(({ id = '', attemptsMade: failures, processedOn: lastAt, failedReason }) => ({
      id,
      failures,
      lastAt,
      // Errors of Node that stand for several have no message, and the library leaves out an empty one.
      reason: (failedReason || 'an error without a message').slice(0, longestReason),
    }));
  }

  /** Has a job that waits until it is tried again tried now. @returns false if it does not wait, or not any more */
  async tryNow({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<boolean> {
    const job = await asked(this.#queues[queue].getJob(id));
    if (!job || !(await asked(job.isDelayed()))) return false;
    try {
      await asked(job.promote());
      return true;
    } catch (error) {
      // Its time has come in between.
      if (await asked(job.isDelayed())) throw error;
      return false;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...Object.values(this.#queues).map((queue) => queue.close()), this.#flows.close()]);
  }

  async #count(name: BackgroundQueue): Promise<QueueCounts> {
    const counts = await asked(this.#queues[name].getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'));
    const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting: wait + prioritized, active, delayed, failed };
  }
}

async function asked<T>(answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  // Before the first connection, the library waits for one for ever.
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), longestMs);
  try {
    return await Promise.race([answer, late.promise]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RouterError('store_unavailable', 'The queue of background work does not answer. Please try again soon.', {
      retryAfter: 2,
      cause: new Error(`redis: ${reason}`),
    });
  } finally {
    clearTimeout(timer);
  }
}
