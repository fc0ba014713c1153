import { FlowProducer, Queue } from 'bullmq';
import { RouterError } from '#shared/core/errors.ts';
import { toProducerConnection, toQueuePrefix, type BackgroundAccess } from './background-access.ts';
import {
  backgroundQueues,
  toJobOptions,
  type BackgroundJob,
  type BackgroundQueue,
  type RepeatedJob,
} from './background-job.ts';

/** Milliseconds after which a call fails without an answer. */
const maxAnswerMs = 3_000;

const maxAddedAtOnce = 500;

export interface QueueCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

/** A job whose last try failed, and which waits for another try. */
export interface FailingJob {
  id: string;
  failures: number;
  /** When the last try began, in ms since 1970. */
  lastAt: number | undefined;
  reason: string;
}

/** Maximum number of jobs of one queue that are searched for failed jobs. */
const maxSearched = 300;

const maxReasonLength = 300;

/** Adds background work to its queues. Every method throws RouterError `store_unavailable` when Redis does not answer. */
export class BackgroundJobs {
  readonly #queues: Record<BackgroundQueue, Queue>;
  readonly #flows: FlowProducer;

  constructor(access: BackgroundAccess) {
    // The version of Redis is not checked: if this check failed because Redis was restarting, every later call would fail as well.
    const options = {
      connection: toProducerConnection(access),
      prefix: toQueuePrefix(access.prefix),
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

  /** Adds a job, unless a job with its id waits or runs. */
  async add(job: BackgroundJob): Promise<void> {
    await callQueue(this.#queues[job.queue].add(job.queue, job.data, toJobOptions(job)));
  }

  /** Adds jobs to one queue, 500 at a time. Leaves out jobs whose id belongs to a job that waits or runs. */
  async addAll(queue: BackgroundQueue, jobs: readonly Omit<BackgroundJob, 'queue'>[]): Promise<void> {
    for (let first = 0; first < jobs.length; first += maxAddedAtOnce) {
      const chunk = jobs.slice(first, first + maxAddedAtOnce);
      await callQueue(
        this.#queues[queue].addBulk(chunk.map((job) => ({ name: queue, data: job.data, opts: toJobOptions(job) }))),
      );
    }
  }

  /** Adds the jobs in `first`, and `job`, which begins when all of these jobs are done. Adds either all jobs or none. */
  async addAfter(job: BackgroundJob, first: readonly BackgroundJob[]): Promise<void> {
    const toFlow = (flowJob: BackgroundJob) => ({
      name: flowJob.queue,
      queueName: flowJob.queue,
      data: flowJob.data,
      opts: toJobOptions(flowJob),
    });
    await callQueue(this.#flows.add({ ...toFlow(job), children: first.map(toFlow) }));
  }

  /**
   * Adds a job now, and then every `everyMs` milliseconds, once in the whole cluster. A repeated call does not change an existing schedule,
   * and restores a schedule that a failover of Redis has lost.
   */
  async repeat({ queue, id, data, everyMs }: RepeatedJob): Promise<void> {
    const opts = { attempts: 1, removeOnComplete: true, removeOnFail: true };
    await callQueue(this.#queues[queue].upsertJobScheduler(id, { every: everyMs }, { name: queue, data, opts }));
  }

  /** Removes a waiting job. A running job stays. */
  async remove({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<void> {
    await callQueue(this.#queues[queue].remove(id));
  }

  /**
   * Returns whether a job runs, waits to begin, or waits for another try. Returns false for a job that does not exist or waits for other
   * jobs.
   */
  async isUnderWay({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<boolean> {
    const state = await callQueue(this.#queues[queue].getJobState(id));
    return state !== 'unknown' && state !== 'waiting-children';
  }

  /** Counts the jobs of a queue that could begin now. */
  async countWaiting(queue: BackgroundQueue): Promise<number> {
    return (await this.#count(queue)).waiting;
  }

  /** Returns the priority of the job that a worker of a queue would take next; 0 if no job with a priority waits. */
  async findNextPriority(queue: BackgroundQueue): Promise<number> {
    const [next] = await callQueue(this.#queues[queue].getPrioritized(0, 0));
    return next?.priority ?? 0;
  }

  async countAll(): Promise<Record<BackgroundQueue, QueueCounts>> {
    const countsByQueue = await Promise.all(
      backgroundQueues.map(async (name) => [name, await this.#count(name)] as const),
    );
    return Object.fromEntries(countsByQueue) as Record<BackgroundQueue, QueueCounts>;
  }

  /** Returns the jobs of a queue that have failed and wait for another try, the next one first. */
  async listFailing(queue: BackgroundQueue, max: number): Promise<FailingJob[]> {
    const delayed = await callQueue(this.#queues[queue].getDelayed(0, maxSearched - 1));
    const failed = delayed.filter(({ attemptsMade }) => attemptsMade > 0).slice(0, max);
    return failed.map(({ id = '', attemptsMade: failures, processedOn: lastAt, failedReason }) => ({
      id,
      failures,
      lastAt,
      // Node's AggregateError may have an empty message, which the library leaves out.
      reason: (failedReason || 'an error without a message').slice(0, maxReasonLength),
    }));
  }

  /**
   * Lets a job that waits for another try begin it now.
   * @returns false if the job does not wait for another try
   */
  async tryNow({ queue, id }: Pick<BackgroundJob, 'queue' | 'id'>): Promise<boolean> {
    const job = await callQueue(this.#queues[queue].getJob(id));
    if (!job || !(await callQueue(job.isDelayed()))) return false;
    try {
      await callQueue(job.promote());
      return true;
    } catch (error) {
      // A job that is no longer delayed has begun its next try meanwhile, which is no error.
      if (await callQueue(job.isDelayed())) throw error;
      return false;
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...Object.values(this.#queues).map((queue) => queue.close()), this.#flows.close()]);
  }

  async #count(name: BackgroundQueue): Promise<QueueCounts> {
    const counts = await callQueue(
      this.#queues[name].getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed'),
    );
    const { wait = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts;
    return { waiting: wait + prioritized, active, delayed, failed };
  }
}

/**
 * Waits at most three seconds for an answer of the library.
 * @throws RouterError `store_unavailable`
 */
async function callQueue<T>(answer: Promise<T>): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  // The library waits without limit until it has connected for the first time.
  const timer = setTimeout(() => timeout.reject(new Error('no answer in time')), maxAnswerMs);
  try {
    return await Promise.race([answer, timeout.promise]);
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
