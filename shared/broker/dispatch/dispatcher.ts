import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createShuttingDownError, RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { Claims } from './claims/claims.ts';
import { JobPlacer } from './claims/job-placer.ts';
import { ContinuationMemory } from './continuation/continuation-memory.ts';
import { ClosedConnections } from './deaths/closed-connections.ts';
import type { DispatchSettings } from './dispatch-context.ts';
import { createLossError } from './deaths/death.ts';
import { DeathChecks } from './deaths/death-checks.ts';
import { sortNewestFirst, Quarantine } from './deaths/quarantine.ts';
import { WorkerDeaths } from './deaths/worker-deaths.ts';
import { Job } from './job.ts';
import type { JobSink } from './job-sink.ts';
import type { JobRequest } from './job-request.ts';
import { JobConditions } from './job-conditions.ts';
import { JobEffects } from './job-effects.ts';
import type { JobEvent } from './job-event.ts';
import { JobMachine } from './job-machine.ts';
import { JobTable } from './job-table.ts';
import { JetStreamProxy } from './queue/jetstream-proxy.ts';
import { computeRetryAfter } from './queue/drain-rate.ts';
import { PartialAnswers } from './partial-answers.ts';
import { Queue } from './queue/queue.ts';
import { ReplyReceiver } from './reply-receiver.ts';
import { JobSweep } from './sweep/job-sweep.ts';
import { WaitingJobReviewer } from './waiting-job-reviewer.ts';
import { WorkerLink } from './worker-link.ts';
import type { Loss } from './workers/live-pool.ts';
import type { LiveWorker } from './workers/live-worker.ts';
import type { LiveWorkers } from './workers/live-workers.ts';
import { OutcomeJudge } from './workers/outcome-judge.ts';

/**
 * The dispatcher's side of the broker contract. It is responsible for each of its jobs from the first byte to the last: it offers the job
 * or publishes tickets, grants one claim at a time, and passes the frames to the sink. If the job's worker is lost, it moves the job to
 * another worker. If the job exceeds a timeout, it ends the job.
 */
export class Dispatcher {
  readonly #jobs = new JobTable();
  /** The memory that streams need to continue on another worker; undefined if continuation is disabled. */
  readonly #memory: ContinuationMemory | undefined;
  readonly #queue: Queue;
  readonly #link: WorkerLink;
  readonly #placer: JobPlacer;
  readonly #machine: JobMachine;
  readonly #deaths: WorkerDeaths;
  readonly #sweep: JobSweep;
  readonly #reviewTimers = new Set<NodeJS.Timeout>();
  readonly #releaseAll: () => void;

  constructor(broker: Broker, workers: LiveWorkers, settings: DispatchSettings, log: Logger) {
    const { ingress, maxAttempts, continueBytes = 0 } = settings;
    this.#memory = continueBytes > 0 ? new ContinuationMemory(continueBytes) : undefined;
    const raise = (job: Job, event: JobEvent): void => this.#machine.raise(job, event);
    const link = new WorkerLink(broker, ingress, log);
    const deaths = new WorkerDeaths(broker, workers, log);
    const checks = new DeathChecks(broker, workers, link, log);
    const judge = new OutcomeJudge(log);
    const jobs = this.#jobs;
    const quarantine = new Quarantine();
    const context = { broker, workers, settings, log, jobs, link, quarantine, deaths, checks, judge, raise };
    const queue = new Queue(
      context,
      (job) => this.#offerWaiting(job),
      (job) => placer.handOver(job),
      (job) => raise(job, { type: 'abandoned', error: this.#createOverloadedError(job) }),
    );
    const { tickets } = queue;
    const placer = new JobPlacer(context, tickets, (job, delayMs) => this.#reviewLater(job, delayMs));
    const machine = new JobMachine(new JobConditions(deaths, maxAttempts), new JobEffects(context, placer, queue), log);
    const jetStreamProxy = new JetStreamProxy(broker, ingress, workers);
    const claims = new Claims(context, tickets, jetStreamProxy);
    const replies = new ReplyReceiver(context, machine, new PartialAnswers<Job>(process.constrainedMemory()));
    const closedConnections = new ClosedConnections(broker);
    this.#queue = queue;
    this.#link = link;
    this.#placer = placer;
    this.#machine = machine;
    this.#deaths = deaths;
    this.#sweep = new JobSweep(context, machine, tickets, closedConnections);
    const { subjects } = broker;
    const subscriptions = [
      broker.subscribe(subjects.allReplies(ingress), (message) => replies.onReply(message)),
      broker.subscribe(subjects.allClaims(ingress), (message) => claims.onClaim(message)),
    ];
    const stopReconnect = broker.onReconnect(() => this.#onReconnect());
    workers.onLost((worker, loss) => this.#onWorkerLost(worker, loss));
    const reviewer = new WaitingJobReviewer(
      () => this.#jobs.values(),
      (job) => raise(job, { type: 'workersChanged' }),
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
  get activeJobs(): number {
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
    this.#machine.raise(job, refusal ? { type: 'abandoned', error: refusal } : { type: 'accepted' });
    return job;
  }

  /** Ends a job whose client has left. Claims for it are refused, and a running attempt is cancelled. */
  cancel(job: Job): void {
    this.#machine.raise(job, { type: 'clientLeft' });
  }

  /** Ends a job with an error and cancels a running attempt. Does nothing if the job has ended. */
  fail(job: Job, error: RouterError): void {
    this.#machine.raise(job, { type: 'abandoned', error });
  }

  /** Waits at most `timeoutMs` milliseconds until all jobs have ended. Then ends the remaining jobs with the error `shutting_down`. */
  async drain(timeoutMs: number): Promise<void> {
    const timer = new AbortController();
    const allEnded = Promise.all(Array.from(this.#jobs.values(), (job) => job.finished));
    const timeUp = sleep(timeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([timeUp, allEnded]);
    timer.abort();
    for (const job of this.#jobs.values()) {
      this.fail(job, createShuttingDownError());
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
    const type = loss === 'left' ? 'workerLost' : 'workerDied';
    const evidence = loss === 'replaced' ? loss : undefined;
    const lostJobs = Array.from(this.#jobs.values()).filter(({ attempt }) => attempt?.worker === worker);
    for (const job of sortNewestFirst(lostJobs)) this.#machine.raise(job, { type, error: createLossError(), evidence });
  }

  /** Offers a waiting job. Returns false if no worker is known to wait for a job. */
  #offerWaiting(job: Job): boolean {
    const offered = this.#placer.placeWaiting(job);
    if (!offered) return false;
    // The next job in line gets a ticket of its own, and can then be offered.
    job.tickets.withdrawAll(true);
    this.#machine.raise(job, offered);
    return true;
  }

  #reviewLater(job: Job, delayMs: number): void {
    const timer = setTimeout(() => {
      this.#reviewTimers.delete(timer);
      this.#machine.raise(job, { type: 'waitOver' });
    }, delayMs);
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
