import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { ContinuationFailure } from '#shared/core/cannot-continue.ts';
import type { ErrorFacts } from '../contract/frame.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { JobPlacer } from './claims/job-placer.ts';
import type { Attempt } from './attempt.ts';
import { hadTaken, heartbeatMs, type Death, type EndOfWorker } from './deaths/death.ts';
import type { DeathChecks } from './deaths/death-checks.ts';
import type { WorkerDeaths } from './deaths/worker-deaths.ts';
import type { Job } from './job.ts';
import type { JobTable } from './job-table.ts';
import type { WorkerLink } from './worker-link.ts';
import { blameOf, type OutcomeJudge } from './workers/outcome-judge.ts';

/** The errors that also the client of a stream gets that waits for another worker: they are not that worker's. */
const toldErrors: ReadonlySet<ErrorCode> = new Set([
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
  /** How often a job is given to a worker at most. */
  maxAttempts: number;
}

/** Ends jobs, each once, and moves those whose worker failed to another one. A job that is over is left as it is. */
export class JobEndings {
  readonly #parts: JobEndingsParts;

  constructor(parts: JobEndingsParts) {
    this.#parts = parts;
  }

  /** The answer is complete and with the client. */
  complete(job: Job, end: JobEnd): void {
    const { attempt } = job;
    if (job.isOver || !attempt) return;
    job.complete(end);
    this.#parts.judge.served(job, attempt, performance.now());
    this.#release(job);
  }

  /** The client is gone: queued work will be refused, running work is cancelled. */
  cancel(job: Job): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    job.cancel();
    this.#release(job);
  }

  /** Fails a job that its worker may still be busy with. */
  abandon(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    this.fail(job, ofBegun(job, error));
  }

  /**
   * Fails a job that no worker is busy with. A stream that does not find another worker ends with the error of the one that it lost.
   * @param failure why its worker cannot continue it, where it reports that
   */
  fail(job: Job, error: RouterError, failure?: ContinuationFailure): void {
    if (job.isOver) return;
    const told = job.continuation?.broken && !toldErrors.has(error.code) ? job.continuation.broken : error;
    job.fail(told, failure);
    this.#release(job);
    this.guard(job, reportFailure, told);
  }

  /** The job's worker or frames are lost: it moves to another worker, unless its client has seen a part that cannot be continued. */
  lose(job: Job, message: string, unbegun = false): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    const error = new RouterError('worker_lost', message);
    if (!this.#mayMove(job, unbegun)) return this.fail(job, unbegun ? error : ofBegun(job, error));
    job.avoidWorker(false);
    this.#move(job, error);
  }

  /**
   * The job's worker died: the job moves as in `lose`, and this is no attempt. A job that another worker has died with before
   * ends, unless its stream has gone on for a while since; any other one that the worker can hardly have taken is offered to another
   * one.
   * @param end what shows that it died, if it is not silence alone
   */
  die(job: Job, end?: EndOfWorker, message = 'The worker was lost in the middle of the answer.'): void {
    const { attempt, death } = job;
    if (job.isOver || !attempt) return;
    const { deaths, placer } = this.#parts;
    if (job.continuation?.hasProvenItself(performance.now())) job.survived();
    const first = job.canMove && deaths.hasOne(job) ? death : undefined;
    if (first) return this.#check(job, attempt, first, end);
    if (!hadTaken(attempt, end)) return placer.onRefusal(job);
    const error = deaths.count(job, attempt);
    if (error) this.abandon(job, error);
    else this.lose(job, message);
  }

  /**
   * The job's worker has sent no frame for long, although it was asked for one: it has died with the job, unless its heartbeats
   * show that it lived afterwards.
   */
  fallSilent(job: Job): void {
    const { attempt } = job;
    if (!attempt) return;
    const message = 'The worker fell silent in the middle of the answer.';
    if (attempt.worker.life.provenAt > attempt.lastFrameAt) this.lose(job, message);
    else this.die(job, undefined, message);
  }

  /**
   * A second worker has died with a job. It keeps the job until it is known whether the first one is dead: then the job ends,
   * otherwise this was the first death.
   */
  #check(job: Job, attempt: Attempt, death: Death, end: EndOfWorker): void {
    const { deaths, checks } = this.#parts;
    const { worker } = attempt;
    const { lastFrameAt } = worker;
    const onVerdict = (_: Job, hasDied: boolean): void => {
      if (hasDied) return this.abandon(job, deaths.countSecond(job, death, attempt));
      job.survived();
      this.die(job, end);
    };
    checks.begin(job, death, {
      isWanted: () => !job.isOver && job.attempt === attempt && worker.lastFrameAt === lastFrameAt,
      isRefuted: () => !deaths.hasOne(job),
      onVerdict: (hasDied) => this.guard(job, onVerdict, hasDied),
    });
  }

  /**
   * The connection of the job's worker is closed: a job that can be served elsewhere does not wait until the worker counts as
   * lost. One that a worker has died with before waits for this to be certain, because it would end.
   */
  disconnect(job: Job): void {
    const { attempt, avoid } = job;
    if (!attempt || !this.#mayMove(job) || this.#parts.deaths.hasOne(job)) return;
    attempt.worker.hasRefused = true;
    if (job.place(new Set(avoid).add(attempt.worker.id)).length > 0) this.die(job, 'closed');
  }

  /**
   * The worker that the job was offered to sends no frame: the job is offered to another one, and this is no attempt. If no
   * heartbeat came either, while others' do, the worker has died with the job, until its next ones come. A job that another
   * worker has died with before waits until that is known, because its next worker would be the third.
   */
  ignore(job: Job, now: number): void {
    const { attempt } = job;
    const { deaths, link, placer } = this.#parts;
    if (!attempt) return;
    if (deaths.hasOne(job)) return link.askAgain(job, now);
    const isOverdue = now - attempt.worker.lastHeartbeatAt > heartbeatMs;
    const isSilent = isOverdue && hadTaken(attempt) && deaths.areHeartbeatsDelivered(now);
    const error = isSilent ? deaths.count(job, attempt, now) : undefined;
    if (error) return this.abandon(job, error);
    link.cancel(job);
    placer.onRefusal(job);
  }

  /**
   * The worker reports an error: where another worker may do better, the job moves there.
   * Where a process answers that is not the one which had taken the job, that one has died with it. Which of them was started
   * first says nothing: clocks are set.
   */
  onError(job: Job, error: RouterError, { unbegun, startedAt, cannotContinue }: ErrorFacts = {}): void {
    const { attempt } = job;
    if (cannotContinue && job.continuation?.broken) return this.#cannotContinue(job, error, cannotContinue);
    if (error.code === 'worker_lost') {
      const isAnother = startedAt !== undefined && startedAt !== attempt?.worker.announcement.startedAt;
      return isAnother ? this.die(job, 'replaced') : this.lose(job, error.message, unbegun);
    }
    // A worker that gives a job back unbegun says nothing of itself: it stops, or has no memory for the body.
    const judged = unbegun ? undefined : attempt;
    const isMovable = judged ? this.#parts.judge.failed(job, judged, error, performance.now()) : error.movable;
    if (isMovable && this.#mayMove(job, unbegun)) {
      job.avoidWorker(judged !== undefined && blameOf(error.code) !== 'none');
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

  /** A running job has exceeded a timeout: where another worker may do better, the job moves there. */
  exceed(job: Job, error: RouterError): void {
    if (job.isOver) return;
    this.#parts.link.cancel(job);
    if (job.attempt) this.onError(job, ofBegun(job, error));
    else this.fail(job, error);
  }

  /**
   * A streamed job waits for its first piece: it leaves an ejected worker that is far later than its peers, if another one serves.
   * It does not while that one may have died with it: another worker has, or it does not answer when it is asked for a frame.
   */
  leaveLate(job: Job, now: number): void {
    const { attempt } = job;
    if (!attempt || !this.#parts.judge.awaited(attempt, now) || !this.#mayMove(job)) return;
    const { deaths, link } = this.#parts;
    if (deaths.hasOne(job)) return;
    if (!attempt.hasJustAnswered(now)) return link.askAgain(job, now);
    if (job.place(new Set(job.avoid).add(attempt.worker.id)).length === 0) return;
    this.exceed(job, new RouterError('first_token_timeout', 'The model gave no first token in time.'));
  }

  /** Does something for a job. What is thrown fails this job, and concerns no other. */
  guard<T>(job: Job, act: (job: Job, argument: T) => void, argument: T): void {
    try {
      act(job, argument);
    } catch (error) {
      this.onThrown(job, error);
    }
  }

  /** The job's sink, or its choice of lanes, has thrown. */
  onThrown(job: Job, thrown: unknown): void {
    const { requestId } = job.request;
    this.#parts.log.error(
      { err: thrown, requestId, traceId: job.traceId, state: job.state },
      'an error was thrown while a request was served',
    );
    this.abandon(job, new RouterError('internal', 'The router failed.', { cause: thrown }));
  }

  /** A tool that was begun may have done its work before it was lost, and must not do it twice. */
  #mayMove({ canMove, attempts, request, death }: Job, unbegun = false): boolean {
    const counted = death ? attempts - 1 : attempts;
    return canMove && (unbegun || request.operation !== 'execute_tool') && counted < this.#parts.maxAttempts;
  }

  #move(job: Job, error: RouterError): void {
    const { jobs, placer, log } = this.#parts;
    const { requestId } = job.request;
    const { attempts: attempt, traceId, hasBegun: continues } = job;
    jobs.takeBack(job);
    job.lost(error);
    log.warn({ requestId, traceId, attempt, reason: error.code, continues }, 'job goes to another worker');
    placer.place(job);
  }

  #release(job: Job): void {
    this.#parts.jobs.delete(job);
    job.tickets.withdrawAll();
  }
}

/** The error of a job that a worker may have begun: a tool may have done its work then. */
function ofBegun({ request, attempt }: Job, error: RouterError): RouterError {
  return request.operation === 'execute_tool' && attempt ? error.afterEffects() : error;
}

function reportFailure(job: Job, error: RouterError): void {
  job.sink.fail(error);
}
