import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { ContinuationFailure } from '#shared/core/cannot-continue.ts';
import type { ErrorFacts } from '../contract/frame.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { JobPlacer } from './claims/job-placer.ts';
import type { Attempt } from './attempt.ts';
import { mayHaveTaken, maxHeartbeatIntervalMs, type Death, type DeathEvidence } from './deaths/death.ts';
import type { DeathChecks } from './deaths/death-checks.ts';
import type { WorkerDeaths } from './deaths/worker-deaths.ts';
import type { Job } from './job.ts';
import type { JobTable } from './job-table.ts';
import type { WorkerLink } from './worker-link.ts';
import { classifyFault, type OutcomeJudge } from './workers/outcome-judge.ts';

/**
 * Errors that a client gets as they are if they end a stream that waits for another worker, because they are not the failure of that
 * worker. Instead of any other error, the client gets the error of the worker that was lost.
 */
const sharedErrors: ReadonlySet<ErrorCode> = new Set([
  'workers_died',
  'shutting_down',
  'total_timeout',
  'request_timeout',
]);

export interface JobEndingsParts {
  jobs: JobTable;
  placer: JobPlacer;
  link: WorkerLink;
  deaths: WorkerDeaths;
  checks: DeathChecks;
  judge: OutcomeJudge;
  log: Logger;
  maxAttempts: number;
}

/** Ends each job once, and moves a job whose worker failed to another worker. All methods ignore a job that has ended. */
export class JobEndings {
  readonly #parts: JobEndingsParts;

  constructor(parts: JobEndingsParts) {
    this.#parts = parts;
  }

  /** Ends a job whose complete answer has been passed to the client. */
  complete(job: Job, end: JobEnd): void {
    const { attempt } = job;
    if (job.isOver || !attempt) return;
    job.complete(end);
    this.#parts.judge.recordServed(job, attempt, performance.now());
    this.#release(job);
  }

  /** Ends a job whose client has left. Claims for it are refused, and a running attempt is cancelled. */
  cancel(job: Job): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    job.cancel();
    this.#release(job);
  }

  /** Ends a job with an error and cancels the attempt that its worker may still run. */
  abandon(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    this.fail(job, markEffects(job, error));
  }

  /**
   * Ends a job with an error, without a cancel. A stream that finds no other worker ends with the error of the worker that it lost.
   * @param failure why the job's worker cannot continue it, if the worker reports that
   */
  fail(job: Job, error: RouterError, failure?: ContinuationFailure): void {
    if (job.isOver) return;
    const clientError =
      job.continuation?.lossError && !sharedErrors.has(error.code) ? job.continuation.lossError : error;
    job.fail(clientError, failure);
    this.#release(job);
    this.runGuarded(job, reportFailure, clientError);
  }

  /**
   * Handles the loss of the job's worker or frames. The job moves to another worker, unless its client has got a part of an answer that
   * cannot continue.
   */
  onWorkerLost(job: Job, message: string, unbegun = false): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    const error = new RouterError('worker_lost', message);
    if (!this.#mayMove(job, unbegun)) return this.fail(job, unbegun ? error : markEffects(job, error));
    job.avoidWorker(false);
    this.#move(job, error);
  }

  /**
   * Handles the death of the job's worker. The job moves as in `onWorkerLost`, without counting as an attempt. If a second worker has died
   * with the job, the job ends, unless its stream has gone on for a while since the first death. A job that the worker can hardly have
   * taken is offered to another worker.
   * @param end the evidence of the death; undefined for silence alone
   */
  onWorkerDied(job: Job, end?: DeathEvidence, message = 'The worker was lost in the middle of the answer.'): void {
    const { attempt, death } = job;
    if (job.isOver || !attempt) return;
    const { deaths, placer } = this.#parts;
    if (job.continuation?.isCleared(performance.now())) job.clearDeath();
    const first = job.canMove && deaths.hasDeath(job) ? death : undefined;
    if (first) return this.#check(job, attempt, first, end);
    if (!mayHaveTaken(attempt, end)) return placer.onRefusal(job);
    const error = deaths.count(job, attempt);
    if (error) this.abandon(job, error);
    else this.onWorkerLost(job, message);
  }

  /**
   * Handles a worker that has sent no frame for long although it was asked for one. The worker counts as dead, unless its heartbeats show
   * that it lived afterwards.
   */
  onWorkerSilent(job: Job): void {
    const { attempt } = job;
    if (!attempt) return;
    const message = 'The worker fell silent in the middle of the answer.';
    if (attempt.worker.proofOfLife.provenAt > attempt.lastFrameAt) this.onWorkerLost(job, message);
    else this.onWorkerDied(job, undefined, message);
  }

  /**
   * Handles the death of a second worker with a job. The job stays with this worker until the check of the first death ends. If the first
   * worker is dead, the job ends; otherwise this death counts as the first.
   */
  #check(job: Job, attempt: Attempt, death: Death, end: DeathEvidence): void {
    const { deaths, checks } = this.#parts;
    const { worker } = attempt;
    const { lastFrameAt } = worker;
    const onVerdict = (_: Job, hasDied: boolean): void => {
      if (hasDied) return this.abandon(job, deaths.countSecond(job, death, attempt));
      job.clearDeath();
      this.onWorkerDied(job, end);
    };
    checks.start(job, death, {
      isWanted: () => !job.isOver && job.attempt === attempt && worker.lastFrameAt === lastFrameAt,
      isRefuted: () => !deaths.hasDeath(job),
      onVerdict: (hasDied) => this.runGuarded(job, onVerdict, hasDied),
    });
  }

  /**
   * Moves a job whose worker's connection is closed, if another worker can serve it, before the worker counts as lost. A job that
   * another worker has died with stays until the loss is certain, because it would end.
   */
  onWorkerDisconnected(job: Job): void {
    const { attempt, avoid } = job;
    if (!attempt || !this.#mayMove(job) || this.#parts.deaths.hasDeath(job)) return;
    attempt.worker.hasRefused = true;
    if (job.place(new Set(avoid).add(attempt.worker.id)).length > 0) this.onWorkerDied(job, 'closed');
  }

  /**
   * Offers a job to another worker if the worker that got the offer sends no frame; this does not count as an attempt. If that worker
   * sends no heartbeat either, while other workers' heartbeats come, it counts as dead until its next heartbeats. A job that another
   * worker has died with stays until that is clear, because its next worker would be the third.
   */
  onOfferIgnored(job: Job, now: number): void {
    const { attempt } = job;
    const { deaths, link, placer } = this.#parts;
    if (!attempt) return;
    if (deaths.hasDeath(job)) return link.requestFrames(job, now);
    const isOverdue = now - attempt.worker.lastHeartbeatAt > maxHeartbeatIntervalMs;
    const isSilent = isOverdue && mayHaveTaken(attempt) && deaths.areHeartbeatsDelivered(now);
    const error = isSilent ? deaths.count(job, attempt, now) : undefined;
    if (error) return this.abandon(job, error);
    link.cancel(job);
    placer.onRefusal(job);
  }

  /**
   * Handles an error that the worker reports. The job moves if another worker may do better. If the answer comes from another process than
   * the job's, the job's process has died with it. The start times only need to differ; their order proves nothing, because clocks can be
   * set.
   */
  onError(job: Job, error: RouterError, { unbegun, startedAt, cannotContinue }: ErrorFacts = {}): void {
    const { attempt } = job;
    if (cannotContinue && job.continuation?.lossError) return this.#cannotContinue(job, error, cannotContinue);
    if (error.code === 'worker_lost') {
      const isAnother = startedAt !== undefined && startedAt !== attempt?.worker.announcement.startedAt;
      return isAnother ? this.onWorkerDied(job, 'replaced') : this.onWorkerLost(job, error.message, unbegun);
    }
    // A worker that returns a job unbegun is not at fault, because it stops, or has no memory for the body.
    const judged = unbegun ? undefined : attempt;
    const isMovable = judged ? this.#parts.judge.failed(job, judged, error, performance.now()) : error.movable;
    if (isMovable && this.#mayMove(job, unbegun)) {
      job.avoidWorker(judged !== undefined && classifyFault(error.code) !== 'none');
      if (job.place(job.avoid).length > 0) return this.#move(job, error);
    }
    this.fail(job, error);
  }

  #cannotContinue(job: Job, { message }: RouterError, failure: ContinuationFailure): void {
    const { requestId } = job.request;
    const worker = job.attempt?.worker.id;
    this.#parts.log.warn(
      { requestId, traceId: job.traceId, worker, failure, reason: message },
      'a stream cannot continue',
    );
    this.fail(job, new RouterError('worker_lost', message), failure);
  }

  /** Handles a running job that has exceeded a timeout. The job moves if another worker may do better. */
  onTimeout(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    if (job.attempt) this.onError(job, markEffects(job, error));
    else this.fail(job, error);
  }

  /**
   * Moves a streamed job away from an ejected worker whose first piece comes far later than those of its peers, if another worker can serve
   * the job. The job stays while the worker may have died with it. That is so if another worker has died with it before, or if this one
   * does not answer a request for a frame.
   */
  moveLateJob(job: Job, now: number): void {
    const { attempt } = job;
    if (!attempt || !this.#parts.judge.checkLate(attempt, now) || !this.#mayMove(job)) return;
    const { deaths, link } = this.#parts;
    if (deaths.hasDeath(job)) return;
    if (!attempt.hasJustAnswered(now)) return link.requestFrames(job, now);
    if (job.place(new Set(job.avoid).add(attempt.worker.id)).length === 0) return;
    this.onTimeout(job, new RouterError('first_token_timeout', 'The model gave no first token in time.'));
  }

  /** Calls `act` for a job. An error that it throws fails this job and no other. */
  runGuarded<T>(job: Job, act: (job: Job, argument: T) => void, argument: T): void {
    try {
      act(job, argument);
    } catch (error) {
      this.onThrown(job, error);
    }
  }

  /** Fails a job after its sink, or its choice of lanes, has thrown. */
  onThrown(job: Job, thrown: unknown): void {
    const { requestId } = job.request;
    this.#parts.log.error(
      { err: thrown, requestId, traceId: job.traceId, state: job.state },
      'an error was thrown while a request was served',
    );
    this.abandon(job, new RouterError('internal', 'The router failed.', { cause: thrown }));
  }

  /** A tool call that has begun may have had its effects before the loss, and must not run twice. */
  #mayMove({ canMove, attempts, request, death }: Job, unbegun = false): boolean {
    const counted = death ? attempts - 1 : attempts;
    return canMove && (unbegun || request.operation !== 'execute_tool') && counted < this.#parts.maxAttempts;
  }

  #move(job: Job, error: RouterError): void {
    const { jobs, placer, log } = this.#parts;
    const { requestId } = job.request;
    const { attempts: attempt, traceId, hasBegun: continues } = job;
    jobs.endAttempt(job);
    job.lost(error);
    log.warn({ requestId, traceId, attempt, reason: error.code, continues }, 'job goes to another worker');
    placer.place(job);
  }

  #release(job: Job): void {
    this.#parts.jobs.delete(job);
    job.tickets.withdrawAll();
  }
}

/** Marks the error of a tool call that a worker may have begun, because the tool may have had its effects. */
function markEffects({ request, attempt }: Job, error: RouterError): RouterError {
  return request.operation === 'execute_tool' && attempt ? error.withEffects() : error;
}

function reportFailure(job: Job, error: RouterError): void {
  job.sink.fail(error);
}
