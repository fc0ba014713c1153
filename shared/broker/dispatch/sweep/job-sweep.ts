import type { RouterError } from '#shared/core/errors.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ClosedConnections } from '../deaths/closed-connections.ts';
import { newestFirst } from '../deaths/suspects.ts';
import { inParts } from '../in-parts.ts';
import type { Job } from '../job.ts';
import type { JobTable } from '../job-table.ts';
import { exceededTimeout, type Timeouts } from './exceeded-timeout.ts';

/** Milliseconds between two sweeps. */
const sweepMs = 100;

/**
 * Milliseconds without a frame after which a worker is asked for a sign of life. A worker sends one every three seconds while
 * a job runs; one that does not know the job, because its grant was lost, reports that.
 */
const askAfterMs = 4_000;

/** Milliseconds for the first frame of the worker that a job was offered to, if only a keep-alive. */
const offerBegunMs = 1_500;

/** Milliseconds after which a broker that has not answered a ping must have stood still itself. */
const promptMs = 500;

/** Milliseconds between two sweeps after which this process must have stood still itself. */
const stoodStillMs = 1_000;

export interface JobSweepOptions {
  broker: Broker;
  jobs: JobTable;
  timeouts: Timeouts;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  closed: Pick<ClosedConnections, 'has'>;
  /** Calls back for a job; what is thrown concerns this job alone. */
  guard: (job: Job, act: (job: Job, now: number) => void, now: number) => void;
  /** Milliseconds until a job that waits is claimed; undefined while it has no lane. */
  expectedWaitMs: (job: Job, now: number) => number | undefined;
  /** The worker of a job fell silent. */
  onLost: (job: Job) => void;
  /** The connection of a job's worker is closed. Called at every sweep, first with the jobs that it was given last. */
  onClosed: (job: Job) => void;
  /** A job has waited for something for longer than it may. */
  onExceeded: (job: Job, error: RouterError) => void;
  /** The worker that a job was offered to has sent no frame in time. Called at every sweep. */
  onIgnored: (job: Job, now: number) => void;
  /** A running job's worker has sent no frame for a while, and the broker is connected. */
  onQuiet: (job: Job, now: number) => void;
  /** A streamed job waits for its first piece, and the broker is connected. Called at every sweep. */
  onAwaiting: (job: Job, now: number) => void;
  /** A job waits in the queue, and the broker is connected. Called at every sweep. */
  onWaiting: (job: Job, now: number) => void;
}

/** Looks at all jobs ten times a second: at their timeouts, at the keep-alives that are due, and at silent workers. */
export class JobSweep {
  readonly #options: JobSweepOptions;
  readonly #timer: NodeJS.Timeout;
  #lastSweep = performance.now();
  /** Jobs whose worker is silent. */
  readonly #silent = new Set<Job>();
  /** Jobs of this sweep whose worker's connection is closed. */
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

  /** Counts the silence of every worker from now on: frames may be lost that they have sent. */
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
    await inParts(jobs.values(), look, () => this.#isOver);
    this.#isSweeping = false;
    const closed = this.#closed.filter(({ isOver }) => !isOver);
    for (const job of newestFirst(closed)) guard(job, onClosed, performance.now());
    this.#closed = [];
    if (this.#silent.size > 0 && !this.#isJudging && !this.#isOver) await this.#judge();
  }

  /** Before silent workers count as lost, the broker has to show that it does not stand still itself. */
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
    if (closed.has(attempt.worker, attempt.lastFrameAt, now)) return void this.#closed.push(job);
    const quietMs = now - attempt.lastFrameAt;
    if (attempt.isOffered && !attempt.hasBegun && quietMs > offerBegunMs) onIgnored(job, now);
    else if (quietMs > askAfterMs) onQuiet(job, now);
    if (job.state === 'claimed' && job.request.stream) onAwaiting(job, now);
  };
}
