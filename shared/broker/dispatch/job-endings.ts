import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { ContinuationFailure } from '#shared/core/cannot-continue.ts';
import type { ErrorFacts } from '../contract/frame.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { JobPlacer } from './claims/job-placer.ts';
import type { Attempt } from './attempt.ts';
import { mayHaveHadJob, maxHeartbeatIntervalMs, type Death, type DeathEvidence } from './deaths/death.ts';
import type { DeathChecks } from './deaths/death-checks.ts';
import type { WorkerDeaths } from './deaths/worker-deaths.ts';
import type { Job } from './job.ts';
import type { JobTable } from './job-table.ts';
import type { WorkerLink } from './worker-link.ts';
import { classifyFault, type OutcomeJudge } from './workers/outcome-judge.ts';

/**
 * The errors that a client gets as they are if they end a stream that waits for another worker, because they are no failure of that other
 * worker. Instead of any other error, the client gets the error of the worker that was lost.
 */
const unmaskedErrors: ReadonlySet<ErrorCode> = new Set([
  'workers_died',
  'shutting_down',
  'total_timeout',
  'request_timeout',
]);

export interface JobEndingsDependencies {
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
  readonly #dependencies: JobEndingsDependencies;

  constructor(dependencies: JobEndingsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Ends a job whose complete answer has been passed to the client. */
  complete(job: Job, end: JobEnd): void {
    const { attempt } = job;
    if (job.isOver || !attempt) return;
    job.complete(end);
    this.#dependencies.judge.recordServed(job, attempt, performance.now());
    this.#release(job);
  }

  /** Ends a job whose client has left, and cancels a running attempt. Claims for the job are refused from now on. */
  cancel(job: Job): void {
    if (job.isOver) return;
    this.#dependencies.link.cancel(job);
    job.cancel();
    this.#release(job);
  }

  /** Ends a job with an error, and cancels the attempt that its worker may still run. */
  abandon(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#dependencies.link.cancel(job);
    this.fail(job, markEffects(job, error));
  }

  /**
   * Ends a job with an error, without cancelling its attempt. A stream that finds no other worker ends with the error of its lost worker.
   * @param failure the reason why the job's worker cannot continue the stream, if the worker reports it
   */
  fail(job: Job, error: RouterError, failure?: ContinuationFailure): void {
    if (job.isOver) return;
    const clientError =
      job.continuation?.lossError && !unmaskedErrors.has(error.code) ? job.continuation.lossError : error;
    job.fail(clientError, failure);
    this.#release(job);
    this.runGuarded(job, reportFailure, clientError);
  }

  /**
   * Handles the loss of the job's worker, or of frames. The job moves to another worker. It fails with `worker_lost` if it must not move:
   * if the client has got a part of an answer that cannot continue, if a tool call may have had effects, or if no attempts are left.
   * @param isUnbegun whether the worker reports that it never began the job
   */
  onWorkerLost(job: Job, message: string, isUnbegun = false): void {
    if (job.isOver) return;
    this.#dependencies.link.cancel(job);
    const error = new RouterError('worker_lost', message);
    if (!this.#mayMove(job, isUnbegun)) return this.fail(job, isUnbegun ? error : markEffects(job, error));
    job.avoidWorker(false);
    this.#move(job, error);
  }

  /**
   * Handles the death of the job's worker. The job moves as in `onWorkerLost`, and the attempt does not count. If the job was only offered,
   * and the worker can hardly have accepted it, the job is offered to another worker. If another worker has died with the job before, the
   * job ends, unless its stream has gone on for a while since that death.
   * @param evidence the evidence of the death; undefined if the worker is only silent
   */
  onWorkerDied(job: Job, evidence?: DeathEvidence, message = 'The worker was lost in the middle of the answer.'): void {
    const { attempt, death } = job;
    if (job.isOver || !attempt) return;
    const { deaths, placer } = this.#dependencies;
    if (job.continuation?.isCleared(performance.now())) job.clearDeath();
    const earlierDeath = job.canMove && deaths.hasDeath(job) ? death : undefined;
    if (earlierDeath) return this.#checkFirstDeath(job, attempt, earlierDeath, evidence);
    if (!mayHaveHadJob(attempt, evidence)) return placer.onRefusal(job);
    const error = deaths.countFirst(job, attempt);
    if (error) this.abandon(job, error);
    else this.onWorkerLost(job, message);
  }

  /**
   * Handles a worker that has sent no frame for long, although it was asked for one. The worker counts as dead, unless its heartbeats show
   * that it lived after its last frame.
   */
  onWorkerSilent(job: Job): void {
    const { attempt } = job;
    if (!attempt) return;
    const message = 'The worker fell silent in the middle of the answer.';
    if (attempt.worker.provenAliveAt > attempt.lastFrameAt) this.onWorkerLost(job, message);
    else this.onWorkerDied(job, undefined, message);
  }

  /**
   * Handles the death of a second worker with a job. The job stays with the second worker until it is checked whether the first worker is
   * dead. If so, the job ends. Otherwise the death of the second worker counts as the first one.
   * @param death the death of the first worker
   */
  #checkFirstDeath(job: Job, attempt: Attempt, death: Death, evidence: DeathEvidence): void {
    const { deaths, checks } = this.#dependencies;
    const { worker } = attempt;
    const { lastFrameAt } = worker;
    const onVerdict = (_: Job, hasDied: boolean): void => {
      if (hasDied) return this.abandon(job, deaths.countSecond(job, death, attempt));
      job.clearDeath();
      this.onWorkerDied(job, evidence);
    };
    checks.start(job, death, {
      isWanted: () => !job.isOver && job.attempt === attempt && worker.lastFrameAt === lastFrameAt,
      isRefuted: () => !deaths.hasDeath(job),
      onVerdict: (hasDied) => this.runGuarded(job, onVerdict, hasDied),
    });
  }

  /**
   * Moves a job whose worker's connection is closed, before the worker counts as lost, if another worker can serve the job. If a worker has
   * died with the job before, the job stays until the loss is certain, because it ends with the second death.
   */
  onWorkerDisconnected(job: Job): void {
    const { attempt, workersToAvoid } = job;
    if (!attempt || !this.#mayMove(job) || this.#dependencies.deaths.hasDeath(job)) return;
    attempt.worker.stopOffers();
    if (job.findPlacements(new Set(workersToAvoid).add(attempt.worker.id)).length > 0) this.onWorkerDied(job, 'closed');
  }

  /**
   * Handles an offer after which the worker has sent no frame: offers the job to another worker, and the attempt does not count. If the
   * worker sends no heartbeats either, while those of other workers come, it counts as dead until its next heartbeats. If a worker has died
   * with the job before, the job stays until it is clear whether this worker is dead, too, because a third worker might die with it.
   */
  onOfferIgnored(job: Job, now: number): void {
    const { attempt } = job;
    const { deaths, link, placer } = this.#dependencies;
    if (!attempt) return;
    if (deaths.hasDeath(job)) return link.requestFrames(job, now);
    const isOverdue = now - attempt.worker.lastHeartbeatAt > maxHeartbeatIntervalMs;
    const isSilent = isOverdue && mayHaveHadJob(attempt) && deaths.areHeartbeatsDelivered(now);
    const error = isSilent ? deaths.countFirst(job, attempt, now) : undefined;
    if (error) return this.abandon(job, error);
    link.cancel(job);
    placer.onRefusal(job);
  }

  /**
   * Handles an error that the worker reports. The job moves if another worker may serve it. If the error says that the worker was started
   * at another time than the one that got the job, that process has died with the job. It does not matter which start time is later,
   * because clocks can be set.
   */
  onError(job: Job, error: RouterError, { unbegun, startedAt, cannotContinue }: ErrorFacts = {}): void {
    const { attempt } = job;
    if (cannotContinue && job.continuation?.lossError) return this.#failContinuation(job, error, cannotContinue);
    if (error.code === 'worker_lost') {
      const isFromAnother = startedAt !== undefined && startedAt !== attempt?.worker.announcement.startedAt;
      return isFromAnother ? this.onWorkerDied(job, 'replaced') : this.onWorkerLost(job, error.message, unbegun);
    }
    // A worker that gives a job back unbegun is not at fault: it stops, or has no memory for the body.
    const judgedAttempt = unbegun ? undefined : attempt;
    const isMovable = judgedAttempt
      ? this.#dependencies.judge.recordFailure(job, judgedAttempt, error, performance.now())
      : error.movable;
    if (isMovable && this.#mayMove(job, unbegun)) {
      job.avoidWorker(judgedAttempt !== undefined && classifyFault(error.code) !== 'none');
      if (job.findPlacements(job.workersToAvoid).length > 0) return this.#move(job, error);
    }
    this.fail(job, error);
  }

  #failContinuation(job: Job, { message }: RouterError, failure: ContinuationFailure): void {
    const { requestId } = job.request;
    const worker = job.attempt?.worker.id;
    this.#dependencies.log.warn(
      { requestId, traceId: job.traceId, worker, failure, reason: message },
      'a stream cannot continue',
    );
    this.fail(job, new RouterError('worker_lost', message), failure);
  }

  /** Handles a job that has exceeded a timeout. If a worker has the job, the job may move to another one. */
  onTimeout(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#dependencies.link.cancel(job);
    if (job.attempt) this.onError(job, markEffects(job, error));
    else this.fail(job, error);
  }

  /**
   * Moves a streamed job away from an ejected worker, if the first piece comes far later than from the worker's peers, and another worker
   * can serve the job. The job stays if a worker has died with it before, or while this worker does not answer a request for a frame,
   * because it may have died, too.
   */
  moveLateJob(job: Job, now: number): void {
    const { attempt } = job;
    if (!attempt || !this.#dependencies.judge.checkLate(attempt, now) || !this.#mayMove(job)) return;
    const { deaths, link } = this.#dependencies;
    if (deaths.hasDeath(job)) return;
    if (!attempt.hasJustAnswered(now)) return link.requestFrames(job, now);
    if (job.findPlacements(new Set(job.workersToAvoid).add(attempt.worker.id)).length === 0) return;
    this.onTimeout(job, new RouterError('first_token_timeout', 'The model gave no first token in time.'));
  }

  /** Calls `act` for a job. An error that `act` throws fails this job and no other. */
  runGuarded<T>(job: Job, act: (job: Job, argument: T) => void, argument: T): void {
    try {
      act(job, argument);
    } catch (error) {
      this.onThrown(job, error);
    }
  }

  /** Fails a job for which anything has thrown an error, such as its sink or its search for placements. */
  onThrown(job: Job, thrown: unknown): void {
    const { requestId } = job.request;
    this.#dependencies.log.error(
      { err: thrown, requestId, traceId: job.traceId, state: job.state },
      'an error was thrown while a request was served',
    );
    this.abandon(job, new RouterError('internal', 'The router failed.', { cause: thrown }));
  }

  /** Whether the job may go to another worker. A tool call that has begun may have had effects before the loss, and must not run twice. */
  #mayMove({ canMove, attempts, request, death }: Job, isUnbegun = false): boolean {
    const countedAttempts = death ? attempts - 1 : attempts;
    return (
      canMove && (isUnbegun || request.operation !== 'execute_tool') && countedAttempts < this.#dependencies.maxAttempts
    );
  }

  #move(job: Job, error: RouterError): void {
    const { jobs, placer, log } = this.#dependencies;
    const { requestId } = job.request;
    const { attempts: attempt, traceId, hasBegun: continues } = job;
    jobs.endAttempt(job);
    job.recordLoss(error);
    log.warn({ requestId, traceId, attempt, reason: error.code, continues }, 'job goes to another worker');
    placer.place(job);
  }

  #release(job: Job): void {
    this.#dependencies.jobs.delete(job);
    job.tickets.withdrawAll();
  }
}

/** Marks the error of a tool call that a worker may have begun, because the tool may have had effects. */
function markEffects({ request, attempt }: Job, error: RouterError): RouterError {
  return request.operation === 'execute_tool' && attempt ? error.withEffects() : error;
}

function reportFailure(job: Job, error: RouterError): void {
  job.sink.fail(error);
}
