import { RouterError } from '#shared/core/errors.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ClosedConnections } from '../deaths/closed-connections.ts';
import { createLossError } from '../deaths/death.ts';
import { sortNewestFirst } from '../deaths/quarantine.ts';
import type { Job } from '../job.ts';
import type { JobMachine } from '../job-machine.ts';
import type { JobTable } from '../job-table.ts';
import { runInTurns } from '../run-in-turns.ts';
import type { OutcomeJudge } from '../workers/outcome-judge.ts';
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

/** If two sweeps are more than this many milliseconds apart, this process was blocked in between. */
const blockedMs = 1_000;

export interface JobSweepOptions {
  broker: Broker;
  jobs: JobTable;
  timeouts: Timeouts;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  closedConnections: Pick<ClosedConnections, 'isClosed'>;
  judge: Pick<OutcomeJudge, 'checkLate'>;
  machine: JobMachine;
  /** Returns the expected milliseconds until a waiting job is claimed; undefined if it has no lane. */
  estimateWaitMs: (job: Job, now: number) => number | undefined;
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

  /** Counts the silence of every worker from now on, because frames that the workers sent earlier may be lost. */
  restartSilence(): void {
    const now = performance.now();
    for (const { attempt } of this.#options.jobs.values()) attempt?.restartSilence(now);
  }

  async #sweep(): Promise<void> {
    const startedAt = performance.now();
    const { jobs, machine } = this.#options;
    if (startedAt - this.#lastSweep > blockedMs) this.restartSilence();
    this.#lastSweep = startedAt;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const check = (job: Job): void => {
      try {
        if (!job.isOver) this.#check(job, performance.now());
      } catch (error) {
        machine.onThrown(job, error);
      }
    };
    await runInTurns(jobs.values(), check, () => this.#isClosed);
    this.#isSweeping = false;
    for (const job of sortNewestFirst(this.#disconnectedJobs))
      machine.raise(job, { type: 'workerDisconnected', error: createLossError(), evidence: 'closed' });
    this.#disconnectedJobs = [];
    if (this.#silentJobs.size > 0 && !this.#isReporting && !this.#isClosed) await this.#reportLostJobs();
  }

  /** Raises the events that are due for a job. Silent and disconnected workers are handled once all jobs are checked. */
  #check(job: Job, now: number): void {
    const { broker, timeouts, keepAliveMs, closedConnections, estimateWaitMs, judge, machine } = this.#options;
    const exceeded = findExceededTimeout(job, timeouts, now, broker.disconnectedSince, estimateWaitMs);
    if (exceeded === 'lost') return void this.#silentJobs.add(job);
    if (exceeded) return machine.raise(job, { type: 'timedOut', error: exceeded });
    if (job.request.stream && now - job.lastWriteAt > keepAliveMs) machine.raise(job, { type: 'keepAliveDue' });
    if (!broker.connected || job.isOver) return undefined;
    const { attempt } = job;
    if (!attempt) return machine.raise(job, { type: 'stillWaiting' });
    if (closedConnections.isClosed(attempt.worker, attempt.lastFrameAt, now))
      return void this.#disconnectedJobs.push(job);
    const quietMs = now - attempt.lastFrameAt;
    if (attempt.isOffered && !attempt.hasSentFrame && quietMs > maxOfferSilenceMs)
      machine.raise(job, { type: 'offerIgnored' });
    else if (quietMs > requestFrameAfterMs) machine.raise(job, { type: 'framesDue' });
    if (job.state !== 'claimed' || !job.request.stream || !judge.checkLate(attempt, now)) return undefined;
    const error = new RouterError('first_token_timeout', 'The model gave no first token in time.');
    return machine.raise(job, { type: 'tokenLate', error });
  }

  /**
   * Reports the jobs of silent workers if the broker answers promptly. Otherwise the broker was blocked, and the silence of the workers
   * proves nothing. A worker that has not answered the request for frames counts as dead, unless its heartbeats show that it lived after
   * its last frame.
   */
  async #reportLostJobs(): Promise<void> {
    this.#isReporting = true;
    const isPrompt = await this.#options.broker.answersPromptly();
    this.#isReporting = false;
    const silent = [...this.#silentJobs];
    this.#silentJobs.clear();
    if (!isPrompt) return this.restartSilence();
    const { broker, timeouts, estimateWaitMs, machine } = this.#options;
    const now = performance.now();
    for (const job of silent) {
      const exceeded = findExceededTimeout(job, timeouts, now, broker.disconnectedSince, estimateWaitMs);
      if (exceeded !== 'lost' || !job.attempt) continue;
      const isAlive = job.attempt.worker.provenAliveAt > job.attempt.lastFrameAt;
      const error = createLossError('The worker fell silent in the middle of the answer.');
      machine.raise(job, { type: isAlive ? 'workerLost' : 'workerDied', error });
    }
  }
}
