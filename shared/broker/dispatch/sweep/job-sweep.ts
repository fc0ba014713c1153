import type { RouterError } from '#shared/core/errors.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ClosedConnections } from '../deaths/closed-connections.ts';
import { newestFirst } from '../deaths/quarantine.ts';
import { runInSlices } from '../run-in-slices.ts';
import type { Job } from '../job.ts';
import type { JobTable } from '../job-table.ts';
import { exceededTimeout, type Timeouts } from './exceeded-timeout.ts';

const sweepMs = 100;

/**
 * Milliseconds without a frame after which the dispatcher requests a frame from the worker as a sign of life. A worker sends a frame every
 * three seconds while a job runs; a worker that does not have the job, because its grant was lost, reports that.
 */
const askAfterMs = 4_000;

/** Milliseconds that a worker has to answer an offer with its first frame, which may be a keep-alive. */
const offerBegunMs = 1_500;

/** Milliseconds after which a broker that has not answered a ping must itself have been blocked. */
const promptMs = 500;

/** Milliseconds between two sweeps after which this process must itself have been blocked. */
const stoodStillMs = 1_000;

export interface JobSweepOptions {
  broker: Broker;
  jobs: JobTable;
  timeouts: Timeouts;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  closed: Pick<ClosedConnections, 'isClosed'>;
  /** Calls `act` for a job; an error that it throws fails this job alone. */
  guard: (job: Job, act: (job: Job, now: number) => void, now: number) => void;
  /** Returns the milliseconds until a waiting job is claimed; undefined while it has no lane. */
  expectedWaitMs: (job: Job, now: number) => number | undefined;
  onLost: (job: Job) => void;
  /** Called at every sweep for each job whose worker's connection is closed, the latest job first. */
  onClosed: (job: Job) => void;
  onExceeded: (job: Job, error: RouterError) => void;
  /** Called at every sweep if the worker that got an offer has sent no frame in time. */
  onIgnored: (job: Job, now: number) => void;
  /** Called if a running job's worker has sent no frame for a while, and the broker is connected. */
  onQuiet: (job: Job, now: number) => void;
  /** Called at every sweep for a streamed job that waits for its first piece, while the broker is connected. */
  onAwaiting: (job: Job, now: number) => void;
  /** Called at every sweep for a job in the queue, while the broker is connected. */
  onWaiting: (job: Job, now: number) => void;
}

/** Checks all jobs ten times a second: timeouts, keep-alives that are due, and silent workers. */
export class JobSweep {
  readonly #options: JobSweepOptions;
  readonly #timer: NodeJS.Timeout;
  #lastSweep = performance.now();
  readonly #silent = new Set<Job>();
  #closed: Job[] = [];
  #isJudging = false;
  #isSweeping = false;
  #isOver = false;

  constructor(options: JobSweepOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#sweep(), sweepMs);
  }

  close(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
  }

  /** Counts every worker's silence from now on, because frames that the workers have sent may be lost. */
  restartSilence(): void {
    const now = performance.now();
    for (const { attempt } of this.#options.jobs.values()) attempt?.restartSilence(now);
  }

  async #sweep(): Promise<void> {
    const begin = performance.now();
    const { jobs, guard, onClosed } = this.#options;
    if (begin - this.#lastSweep > stoodStillMs) this.restartSilence();
    this.#lastSweep = begin;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const look = (job: Job): void => {
      if (!job.isOver) guard(job, this.#look, performance.now());
    };
    await runInSlices(jobs.values(), look, () => this.#isOver);
    this.#isSweeping = false;
    const closed = this.#closed.filter(({ isOver }) => !isOver);
    for (const job of newestFirst(closed)) guard(job, onClosed, performance.now());
    this.#closed = [];
    if (this.#silent.size > 0 && !this.#isJudging && !this.#isOver) await this.#judge();
  }

  /** Reports silent workers as lost only if the broker answers promptly; otherwise the broker itself was blocked. */
  async #judge(): Promise<void> {
    this.#isJudging = true;
    const answerMs = await this.#options.broker.roundTripMs();
    this.#isJudging = false;
    const silent = [...this.#silent];
    this.#silent.clear();
    if (answerMs === undefined || answerMs > promptMs) return this.restartSilence();
    const { broker, timeouts, guard, expectedWaitMs, onLost } = this.#options;
    const now = performance.now();
    for (const job of silent) {
      const exceeded = exceededTimeout(job, timeouts, now, broker.disconnectedSince, expectedWaitMs);
      if (exceeded === 'lost') guard(job, onLost, now);
    }
  }

  readonly #look = (job: Job, now: number): void => {
    const { broker, timeouts, keepAliveMs, closed, expectedWaitMs } = this.#options;
    const { onExceeded, onIgnored, onQuiet, onAwaiting, onWaiting } = this.#options;
    const exceeded = exceededTimeout(job, timeouts, now, broker.disconnectedSince, expectedWaitMs);
    if (exceeded === 'lost') return void this.#silent.add(job);
    if (exceeded) return onExceeded(job, exceeded);
    if (job.request.stream && now - job.lastWriteAt > keepAliveMs) job.keepAlive(now);
    if (!broker.connected || job.isOver) return undefined;
    const { attempt } = job;
    if (!attempt) return onWaiting(job, now);
    if (closed.isClosed(attempt.worker, attempt.lastFrameAt, now)) return void this.#closed.push(job);
    const quietMs = now - attempt.lastFrameAt;
    if (attempt.isOffered && !attempt.hasBegun && quietMs > offerBegunMs) onIgnored(job, now);
    else if (quietMs > askAfterMs) onQuiet(job, now);
    if (job.state === 'claimed' && job.request.stream) onAwaiting(job, now);
  };
}
