import { RouterError } from '#shared/core/errors.ts';
import type { ClosedConnections } from '../deaths/closed-connections.ts';
import { createLossError } from '../deaths/death.ts';
import { sortNewestFirst } from '../deaths/quarantine.ts';
import type { DispatchContext } from '../dispatch-context.ts';
import type { Job } from '../job.ts';
import type { JobMachine } from '../job-machine.ts';
import type { Tickets } from '../queue/tickets.ts';
import { runInTurns } from '../run-in-turns.ts';
import { findExceededTimeout } from './find-exceeded-timeout.ts';

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

/** Checks all jobs ten times a second for exceeded timeouts, keep-alives that are due, and workers that are silent or disconnected. */
export class JobSweep {
  readonly #context: DispatchContext;
  readonly #machine: JobMachine;
  readonly #tickets: Tickets;
  readonly #closedConnections: ClosedConnections;
  readonly #timer: NodeJS.Timeout;
  readonly #estimateWaitMs = (job: Job, now: number): number | undefined => this.#tickets.estimateWaitMs(job, now);
  #lastSweep = performance.now();
  readonly #silentJobs = new Set<Job>();
  #disconnectedJobs: Job[] = [];
  #isReporting = false;
  #isSweeping = false;
  #isClosed = false;

  constructor(context: DispatchContext, machine: JobMachine, tickets: Tickets, closedConnections: ClosedConnections) {
    this.#context = context;
    this.#machine = machine;
    this.#tickets = tickets;
    this.#closedConnections = closedConnections;
    this.#timer = setInterval(() => void this.#sweep(), sweepMs);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** Counts the silence of every worker from now on, because frames that the workers sent earlier may be lost. */
  restartSilence(): void {
    const now = performance.now();
    for (const { attempt } of this.#context.jobs.values()) attempt?.restartSilence(now);
  }

  async #sweep(): Promise<void> {
    const startedAt = performance.now();
    if (startedAt - this.#lastSweep > blockedMs) this.restartSilence();
    this.#lastSweep = startedAt;
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const check = (job: Job): void => {
      try {
        if (!job.isOver) this.#check(job, performance.now());
      } catch (error) {
        this.#machine.onThrown(job, error);
      }
    };
    await runInTurns(this.#context.jobs.values(), check, () => this.#isClosed);
    this.#isSweeping = false;
    for (const job of sortNewestFirst(this.#disconnectedJobs))
      this.#machine.raise(job, { type: 'workerDisconnected', error: createLossError(), evidence: 'closed' });
    this.#disconnectedJobs = [];
    if (this.#silentJobs.size > 0 && !this.#isReporting && !this.#isClosed) await this.#reportLostJobs();
  }

  #findExceededTimeout(job: Job, now: number): ReturnType<typeof findExceededTimeout> {
    const { broker, settings } = this.#context;
    return findExceededTimeout(job, settings.timeouts, now, broker.disconnectedSince, this.#estimateWaitMs);
  }

  /** Raises the events that are due for a job. Silent and disconnected workers are handled once all jobs are checked. */
  #check(job: Job, now: number): void {
    const { broker, judge, settings } = this.#context;
    const exceeded = this.#findExceededTimeout(job, now);
    if (exceeded === 'lost') return void this.#silentJobs.add(job);
    if (exceeded) return this.#machine.raise(job, { type: 'timedOut', error: exceeded });
    if (job.request.stream && now - job.lastWriteAt > settings.keepAliveMs)
      this.#machine.raise(job, { type: 'keepAliveDue' });
    if (!broker.connected || job.isOver) return undefined;
    const { attempt } = job;
    if (!attempt) return this.#machine.raise(job, { type: 'stillWaiting' });
    if (this.#closedConnections.isClosed(attempt.worker, attempt.lastFrameAt, now))
      return void this.#disconnectedJobs.push(job);
    const quietMs = now - attempt.lastFrameAt;
    if (attempt.isOffered && !attempt.hasSentFrame && quietMs > maxOfferSilenceMs)
      this.#machine.raise(job, { type: 'offerIgnored' });
    else if (quietMs > requestFrameAfterMs) this.#machine.raise(job, { type: 'framesDue' });
    if (job.state !== 'claimed' || !job.request.stream || !judge.checkLate(attempt, now)) return undefined;
    const error = new RouterError('first_token_timeout', 'The model gave no first token in time.');
    return this.#machine.raise(job, { type: 'tokenLate', error });
  }

  /**
   * Reports the jobs of silent workers if the broker answers promptly. Otherwise the broker was blocked, and the silence of the workers
   * proves nothing. A worker that has not answered the request for frames counts as dead, unless its heartbeats show that it lived after
   * its last frame.
   */
  async #reportLostJobs(): Promise<void> {
    this.#isReporting = true;
    const isPrompt = await this.#context.broker.answersPromptly();
    this.#isReporting = false;
    const silent = [...this.#silentJobs];
    this.#silentJobs.clear();
    if (!isPrompt) return this.restartSilence();
    const now = performance.now();
    for (const job of silent) {
      if (this.#findExceededTimeout(job, now) !== 'lost' || !job.attempt) continue;
      const isAlive = job.attempt.worker.provenAliveAt > job.attempt.lastFrameAt;
      const error = createLossError('The worker fell silent in the middle of the answer.');
      this.#machine.raise(job, { type: isAlive ? 'workerLost' : 'workerDied', error });
    }
  }
}
