import { setTimeout as pause } from 'node:timers/promises';
import { DelayedError, Worker, type Job } from 'bullmq';
import type { Logger } from '#shared/core/log.ts';
import { toQueuePrefix, toWorkerConnection, type BackgroundAccess } from './background-access.ts';
import { computeRetryMs, type BackgroundQueue } from './background-job.ts';

/**
 * Milliseconds for which a worker holds the lock of a job. The worker renews the lock after half of this time. If the worker is dead or
 * blocked and does not renew the lock, the job goes to another worker.
 */
const lockMs = 20_000;

/** Milliseconds between two checks for jobs whose lock was not renewed. */
const stallCheckMs = 5_000;

/** How often a job may go to another worker. This is practically unlimited, because every worker may die. */
const maxStalls = 1_000_000;

/** Milliseconds for which `close` waits for running jobs and for Redis. Jobs that are still unfinished then go to other workers. */
const closeMs = 10_000;

/** Milliseconds after a failed try to take a job until the worker tries again. */
const refusedPauseMs = 1_000;

/** Thrown by a handler to run its job again later. It does not count as a failure. */
export class RunLaterError extends Error {
  override name = 'RunLaterError';
  readonly ms: number;

  /** @param ms milliseconds after which the job runs again */
  constructor(ms: number) {
    super(`to be begun anew in ${ms} ms`);
    this.ms = ms;
  }
}

export interface BackgroundWorkerOptions<Data> {
  access: BackgroundAccess;
  queue: BackgroundQueue;
  /** Maximum number of jobs that run at the same time. */
  concurrency: number;
  /**
   * Does one job. It may be called again for a finished job, and for a job that another process still works on.
   * @throws RunLaterError to run the job again later; any other error counts as a failure, after which the job is tried again
   */
  handle: (data: Data) => Promise<void>;
}

/** A worker of a queue, for code that does not need the type of the jobs' data. */
export interface QueueWorker {
  /** Number of jobs that were taken from a worker because it did not renew their lock. */
  stalls: number;
  /** Number of tries that failed. */
  failures: number;
  completions: number;
  close(): Promise<void>;
}

/**
 * The library's worker, with a pause after each failed try to take a job. While Redis refuses writes, the library alone would try again
 * without a pause.
 */
class PausingWorker<Data> extends Worker<Data> {
  protected override async moveToActive(...args: Parameters<Worker<Data>['moveToActive']>): Promise<Job<Data>> {
    try {
      return await super.moveToActive(...args);
    } catch (error) {
      await pause(refusedPauseMs);
      throw error;
    }
  }
}

export class BackgroundWorker<Data> implements QueueWorker {
  readonly #worker: Worker<Data>;
  readonly #log: Logger;
  stalls = 0;
  failures = 0;
  completions = 0;

  constructor({ access, queue, concurrency, handle }: BackgroundWorkerOptions<Data>) {
    this.#log = access.log.child({ queue });
    this.#worker = new PausingWorker<Data>(queue, (job, token) => this.#run(job, token, handle), {
      connection: toWorkerConnection(access),
      prefix: toQueuePrefix(access.prefix),
      concurrency,
      lockDuration: lockMs,
      stalledInterval: stallCheckMs,
      maxStalledCount: maxStalls,
      settings: { backoffStrategy: (failures) => computeRetryMs(failures) },
    });
    this.#worker.on('error', (error) => this.#log.debug({ err: error }, 'the queue is away'));
    this.#worker.on('stalled', (job) => {
      this.stalls += 1;
      this.#log.warn({ job }, 'a job was taken from a worker that is dead or stands still');
    });
    this.#worker.on('completed', () => {
      this.completions += 1;
    });
    this.#worker.on('failed', (job, error) => {
      this.failures += 1;
      this.#log.warn({ job: job?.id, err: error }, 'a job failed and is tried again');
    });
  }

  /** Begins no further jobs. Resolves when the running jobs are over, or after ten seconds. */
  async close(): Promise<void> {
    const ended = new AbortController();
    // The timeout is needed because the library waits while Redis is unavailable.
    const late = pause(closeMs, 'late' as const, { signal: ended.signal }).catch(() => undefined);
    const end = await Promise.race([this.#worker.close(), late]);
    ended.abort();
    if (end === 'late') this.#log.warn('the queue was left before its jobs were over');
  }

  async #run(job: Job<Data>, token: string | undefined, handle: (data: Data) => Promise<void>): Promise<void> {
    try {
      await handle(job.data);
    } catch (error) {
      if (!(error instanceof RunLaterError)) throw error;
      await job.moveToDelayed(Date.now() + error.ms, token);
      throw new DelayedError();
    }
  }
}
