import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { JobPlacer } from './claims/job-placer.ts';
import { ContinuationMemory } from './continuation/continuation-memory.ts';
import { ClosedConnections } from './deaths/closed-connections.ts';
import { DeathChecks } from './deaths/death-checks.ts';
import { sortNewestFirst, Quarantine } from './deaths/quarantine.ts';
import { WorkerDeaths } from './deaths/worker-deaths.ts';
import { Job } from './job.ts';
import type { JobSink } from './job-sink.ts';
import type { JobRequest } from './job-request.ts';
import { JobEndings } from './job-endings.ts';
import { JobTable } from './job-table.ts';
import { JetStreamProxy } from './queue/jetstream-proxy.ts';
import { computeRetryAfter } from './queue/drain-rate.ts';
import type { QueueSettings } from './queue/jobs-stream.ts';
import { PartialAnswers } from './partial-answers.ts';
import { Queue } from './queue/queue.ts';
import { ReplyReceiver } from './reply-receiver.ts';
import type { Timeouts } from './sweep/find-exceeded-timeout.ts';
import { JobSweep } from './sweep/job-sweep.ts';
import { WaitingJobReviewer } from './waiting-job-reviewer.ts';
import { WorkerLink } from './worker-link.ts';
import type { Loss } from './workers/live-pool.ts';
import type { LiveWorker } from './workers/live-worker.ts';
import type { LiveWorkers } from './workers/live-workers.ts';
import { OutcomeJudge } from './workers/outcome-judge.ts';

export interface DispatchSettings {
  /** The name of this dispatching process, as a subject token. */
  ingress: string;
  timeouts: Timeouts;
  queue: QueueSettings;
  /** Milliseconds after which an unclaimed ticket overflows into the next lane. */
  overflowMs: number;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  /** Maximum grants and accepted offers of one job. */
  maxAttempts: number;
  /** Maximum bytes of the streams that are kept so that they can continue on another worker; 0, the default, disables continuation. */
  continueBytes?: number;
}

/**
 * The dispatcher's side of the broker contract. It is responsible for each of its jobs from the first byte to the last: it offers the job
 * or publishes tickets, grants one claim at a time, and passes the frames to the sink. If the worker is lost, it moves the job to another
 * one. If the job exceeds a timeout, it ends the job.
 */
export class Dispatcher {
  readonly #jobs = new JobTable();
  /** The memory that streams need to continue on another worker; undefined if continuation is disabled. */
  readonly #memory: ContinuationMemory | undefined;
  readonly #queue: Queue;
  readonly #link: WorkerLink;
  readonly #placer: JobPlacer;
  readonly #endings: JobEndings;
  readonly #deaths: WorkerDeaths;
  readonly #sweep: JobSweep;
  readonly #place = (job: Job): void => this.#placer.place(job);
  readonly #review = (job: Job): void => this.#queue.tickets.review(job);
  readonly #reviewTimers = new Set<NodeJS.Timeout>();
  readonly #releaseAll: () => void;

  constructor(broker: Broker, workers: LiveWorkers, settings: DispatchSettings, log: Logger) {
    const { ingress, timeouts, queue, overflowMs, keepAliveMs, maxAttempts, continueBytes = 0 } = settings;
    this.#memory = continueBytes > 0 ? new ContinuationMemory(continueBytes) : undefined;
    const jobs = this.#jobs;
    const onFull = (job: Job): void => this.#endings.fail(job, this.#createOverloadedError(job));
    const offer = (job: Job): boolean => this.#placer.offerWaiting(job);
    const handOver = (job: Job): void => this.#placer.handOver(job);
    this.#queue = new Queue(broker, workers, {
      ingress,
      settings: queue,
      overflowMs,
      log,
      jobs,
      offer,
      handOver,
      onFull,
    });
    const { tickets } = this.#queue;
    const jetStreamProxy = new JetStreamProxy(broker, ingress, workers);
    const link = new WorkerLink(broker, ingress, log);
    const quarantine = new Quarantine();
    const reviewLater = (job: Job, ms: number): void => this.#reviewLater(job, ms);
    const placer = new JobPlacer({ broker, workers, jobs, tickets, link, jetStreamProxy, quarantine, reviewLater });
    const deaths = new WorkerDeaths(broker, workers, log);
    const checks = new DeathChecks(broker, workers, link, log);
    const judge = new OutcomeJudge(log);
    const endings = new JobEndings({ jobs, placer, link, deaths, checks, judge, log, maxAttempts });
    const closedConnections = new ClosedConnections(broker);
    const partialAnswers = new PartialAnswers<Job>(process.constrainedMemory());
    const replies = new ReplyReceiver({ broker, ingress, jobs, placer, endings, link, judge, partialAnswers, checks });
    this.#link = link;
    this.#placer = placer;
    this.#endings = endings;
    this.#deaths = deaths;
    this.#sweep = new JobSweep({
      broker,
      jobs,
      timeouts,
      keepAliveMs,
      closedConnections,
      runGuarded: (job, act, now) => endings.runGuarded(job, act, now),
      estimateWaitMs: (job, now) => tickets.estimateWaitMs(job, now),
      onLost: (job) => endings.onWorkerSilent(job),
      onClosed: (job) => endings.onWorkerDisconnected(job),
      onExceeded: (job, error) => endings.onTimeout(job, error),
      onOfferIgnored: (job, now) => endings.onOfferIgnored(job, now),
      onQuiet: (job, now) => link.requestFrames(job, now),
      onAwaitingFirstPiece: (job, now) => endings.moveLateJob(job, now),
      onWaiting: (job, now) => this.#queue.maintain(job, now),
    });
    const { subjects } = broker;
    const subscriptions = [
      broker.subscribe(subjects.allReplies(ingress), (message) => replies.onReply(message)),
      broker.subscribe(subjects.allClaims(ingress), (message) => placer.onClaim(message)),
    ];
    const stopReconnect = broker.onReconnect(() => this.#onReconnect());
    workers.onLost((worker, loss) => this.#onWorkerLost(worker, loss));
    const reviewer = new WaitingJobReviewer(
      () => this.#jobs.values(),
      (job) => this.#endings.runGuarded(job, this.#review, undefined),
    );
    workers.onChange(() => reviewer.schedule());
    this.#releaseAll = () => {
      this.#sweep.close();
      reviewer.close();
      for (const timer of this.#reviewTimers) clearTimeout(timer);
      for (const subscription of subscriptions) subscription.unsubscribe();
      stopReconnect();
      closedConnections.close();
      checks.close();
      deaths.close();
      this.#queue.close();
      jetStreamProxy.close();
    };
  }

  /**
   * Creates the streams that hold the tickets, one for each tier, or updates existing ones.
   * @throws if the broker has no JetStream, or refuses to create them
   */
  prepare(): Promise<void> {
    return this.#queue.prepare();
  }

  /** The number of jobs that have not ended. */
  get active(): number {
    return this.#jobs.size;
  }

  /** Bytes of the streams that are kept so that they can continue on another worker. */
  get keptBytes(): number {
    return this.#memory?.bytes ?? 0;
  }

  jobs(): Iterable<Job> {
    return this.#jobs.values();
  }

  /**
   * Accepts a job. The sink gets the job's answer; `job.finished` resolves when the job has ended, whatever the outcome.
   * @param request kept until the job ends
   * @param body released when the client has got a part of the answer. If the stream can continue on another worker, the body is kept and
   * counts in `keptBytes`
   */
  dispatch(request: JobRequest, body: Buffer, sink: JobSink): Job {
    // Nobody can guess a UUID, and it is much cheaper than random bytes, because Node generates the randomness of many UUIDs at once.
    const job = new Job(randomUUID(), request, body, sink, this.#memory);
    this.#jobs.add(job);
    const refusal = this.#deaths.findRefusal(request, body);
    if (refusal) this.#endings.fail(job, refusal);
    else this.#endings.runGuarded(job, this.#place, undefined);
    return job;
  }

  /** Ends a job whose client has left. Claims for it are refused, and a running attempt is cancelled. */
  cancel(job: Job): void {
    this.#endings.cancel(job);
  }

  /** Ends a job with an error and cancels a running attempt. Does nothing if the job has ended. */
  fail(job: Job, error: RouterError): void {
    this.#endings.abandon(job, error);
  }

  /** Waits at most `ms` milliseconds until all jobs have ended. Then ends the remaining jobs with the error `shutting_down`. */
  async drain(ms: number): Promise<void> {
    const timer = new AbortController();
    const allEnded = Promise.all(Array.from(this.#jobs.values(), (job) => job.finished));
    const timeUp = sleep(ms, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([timeUp, allEnded]);
    timer.abort();
    for (const job of this.#jobs.values()) {
      this.#endings.abandon(job, new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 }));
    }
  }

  close(): void {
    this.#releaseAll();
  }

  #createOverloadedError(job: Job): RouterError {
    const retryAfter = computeRetryAfter(this.#queue.tickets.estimateWaitMs(job, performance.now()));
    return new RouterError('overloaded', 'Too many requests are waiting.', { retryAfter });
  }

  #onWorkerLost(worker: LiveWorker, loss: Loss): void {
    const handleLoss = (job: Job): void => {
      if (loss !== 'left') this.#endings.onWorkerDied(job, loss === 'replaced' ? loss : undefined);
      else this.#endings.onWorkerLost(job, 'The worker was lost in the middle of the answer.');
    };
    const lostJobs = Array.from(this.#jobs.values()).filter(({ attempt }) => attempt?.worker === worker);
    for (const job of sortNewestFirst(lostJobs)) this.#endings.runGuarded(job, handleLoss, undefined);
  }

  #reviewLater(job: Job, ms: number): void {
    const timer = setTimeout(() => {
      this.#reviewTimers.delete(timer);
      const act = job.tickets.placed.size === 0 ? this.#place : this.#review;
      if (job.state === 'queued') this.#endings.runGuarded(job, act, undefined);
    }, ms);
    this.#reviewTimers.add(timer);
  }

  /**
   * Recovers from the loss of messages that were under way when the connection was lost: publishes tickets again, and requests missing
   * frames from the workers.
   */
  #onReconnect(): void {
    this.#sweep.restartSilence();
    this.#queue.checkStreams();
    const now = performance.now();
    for (const job of this.#jobs.values()) this.#link.requestFrames(job, now);
  }
}
