import type { RouterError } from '#shared/core/errors.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ClosedConnections } from '../deaths/closed-connections.ts';
import { sortNewestFirst } from '../deaths/quarantine.ts';
import { runInTurns } from '../run-in-turns.ts';
import type { Job } from '../job.ts';
import type { JobTable } from '../job-table.ts';
import { findExceededTimeout, type Timeouts } from './find-exceeded-timeout.ts';

/** Milliseconds between two sweeps. */
const sweepMs = 100;

/**
 * Milliseconds without a frame after which the dispatcher requests a frame from the worker as a sign of life. While a job runs, its worker
 * sends a frame every three seconds. A worker that does not have the job, because the grant was lost, answers with an error.
 */
const requestFrameAfterMs = 4_000;

/** Maximum milliseconds from an offer to the worker's first frame, which may be a keep-alive. */
const maxOfferSilenceMs = 1_500;

/** Maximum milliseconds in which the broker answers a ping unless it was blocked. */
const maxAnswerMs = 500;

/** Milliseconds between two sweeps from which on this process must have been blocked. */
const stoodStillMs = 1_000;

export interface JobSweepOptions {
  broker: Broker;
  jobs: JobTable;
  timeouts: Timeouts;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  closedConnections: Pick<ClosedConnections, 'isClosed'>;
  /** Calls `act` for a job. An error that `act` throws fails this job and no other. */
  runGuarded: (job: Job, act: (job: Job, now: number) => void, now: number) => void;
  /** Returns the expected milliseconds until a waiting job is claimed; undefined if it has no lane. */
  estimateWaitMs: (job: Job, now: number) => number | undefined;
  /** Called for a job whose worker has fallen silent. */
  onLost: (job: Job) => void;
  /** Called at every sweep for each job whose worker's connection is closed, the job first that its worker got last. */
  onClosed: (job: Job) => void;
  /** Called for a job that has exceeded another timeout. */
  onExceeded: (job: Job, error: RouterError) => void;
  /** Called at every sweep for an offered job whose worker has sent no frame in time. */
  onOfferIgnored: (job: Job, now: number) => void;
  /** Called at every sweep for a job whose worker has sent no frame for a while, while the broker is connected. */
  onQuiet: (job: Job, now: number) => void;
  /** Called at every sweep for a streamed job whose worker has sent no piece yet, while the broker is connected. */
  onAwaitingFirstPiece: (job: Job, now: number) => void;
  /** Called at every sweep for a job in the queue, while the broker is connected. */
  onWaiting: (job: Job, now: number) => void;
}

/** Checks all jobs ten times a second for exceeded timeouts, keep-alives that are due, and workers that are silent or disconnected. */
export class JobSweep {
  readonly #options: JobSweepOptions;
  readonly #timer: NodeJS.Timeout;
  #lastSweep = performance.now();
  readonly #silentJobs = new Set<Job>();
  #disconnectedJobs: Job[] = [];
  #isReporting = false;
  #isSweeping = false;
  #isClosed = false;

  constructor(options: JobSweepOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#sweep(), sweepMs);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** Counts every worker's silence from now on, because frames that the workers have sent before may be lost. */
  restartSilence(): void {
    const now = performance.now();
    for (const { attempt } of this.#options.jobs.values()) attempt?.restartSilence(now);
  }

  async #sweep(): Promise<void> {
    const begin = performance.now();
    const { jobs, runGuarded, onClosed } = this.#options;
    if (begin - this.#lastSweep > stoodStillMs) this.restartSilence();
    this.#lastSweep = begin;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const checkIfRunning = (job: Job): void => {
      if (!job.isOver) runGuarded(job, this.#checkJob, performance.now());
    };
    await runInTurns(jobs.values(), checkIfRunning, () => this.#isClosed);
    this.#isSweeping = false;
    const disconnectedJobs = this.#disconnectedJobs.filter(({ isOver }) => !isOver);
    for (const job of sortNewestFirst(disconnectedJobs)) runGuarded(job, onClosed, performance.now());
    this.#disconnectedJobs = [];
    if (this.#silentJobs.size > 0 && !this.#isReporting && !this.#isClosed) await this.#reportLostJobs();
  }

  /**
   * Reports the jobs of silent workers, if the broker answers promptly. Otherwise the broker was blocked, and their silence proves nothing.
   */
  async #reportLostJobs(): Promise<void> {
    this.#isReporting = true;
    const answerMs = await this.#options.broker.roundTripMs();
    this.#isReporting = false;
    const silent = [...this.#silentJobs];
    this.#silentJobs.clear();
    if (answerMs === undefined || answerMs > maxAnswerMs) return this.restartSilence();
    const { broker, timeouts, runGuarded, estimateWaitMs, onLost } = this.#options;
    const now = performance.now();
    for (const job of silent) {
      const exceeded = findExceededTimeout(job, timeouts, now, broker.disconnectedSince, estimateWaitMs);
      if (exceeded === 'lost') runGuarded(job, onLost, now);
    }
  }

  readonly #checkJob = (job: Job, now: number): void => {
    const { broker, timeouts, keepAliveMs, closedConnections, estimateWaitMs } = this.#options;
    const { onExceeded, onOfferIgnored, onQuiet, onAwaitingFirstPiece, onWaiting } = this.#options;
    const exceeded = findExceededTimeout(job, timeouts, now, broker.disconnectedSince, estimateWaitMs);
    if (exceeded === 'lost') return void this.#silentJobs.add(job);
    if (exceeded) return onExceeded(job, exceeded);
    if (job.request.stream && now - job.lastWriteAt > keepAliveMs) job.keepAlive(now);
    if (!broker.connected || job.isOver) return undefined;
    const { attempt } = job;
    if (!attempt) return onWaiting(job, now);
    if (closedConnections.isClosed(attempt.worker, attempt.lastFrameAt, now))
      return void this.#disconnectedJobs.push(job);
    const quietMs = now - attempt.lastFrameAt;
    if (attempt.isOffered && !attempt.hasSentFrame && quietMs > maxOfferSilenceMs) onOfferIgnored(job, now);
    else if (quietMs > requestFrameAfterMs) onQuiet(job, now);
    if (job.state === 'claimed' && job.request.stream) onAwaitingFirstPiece(job, now);
  };
}
