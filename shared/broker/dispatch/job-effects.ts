import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { JobPlacer } from './claims/job-placer.ts';
import { createRefusal } from './deaths/worker-deaths.ts';
import type { DispatchContext } from './dispatch-context.ts';
import type { Job } from './job.ts';
import type { EndedEvent, FailureEvent, GrantedEvent, JobEvent, OfferedEvent } from './job-event.ts';
import type { Queue } from './queue/queue.ts';

/**
 * If one of these errors ends a stream that waits for another worker, the client gets the error unchanged, because it is not a failure of
 * that worker. Any other error is replaced by the error of the lost worker.
 */
const unmaskedErrors: ReadonlySet<ErrorCode> = new Set([
  'workers_died',
  'shutting_down',
  'total_timeout',
  'request_timeout',
]);

/** The effects of `jobLife`. When an effect runs, the job is already in its next state. */
export class JobEffects {
  readonly #context: DispatchContext;
  readonly #placer: JobPlacer;
  readonly #queue: Queue;

  constructor(context: DispatchContext, placer: JobPlacer, queue: Queue) {
    this.#context = context;
    this.#placer = placer;
    this.#queue = queue;
  }

  /** Finds a worker for the job: offers the job, or publishes tickets. */
  place(job: Job): void {
    const offered = this.#placer.place(job);
    if (offered) this.#context.raise(job, offered);
  }

  beginAttempt(job: Job, { attempt }: OfferedEvent | GrantedEvent): void {
    job.beginAttempt(attempt);
    this.#context.jobs.recordAttempt(job, attempt);
    this.#context.quarantine.recordAssigned(attempt.worker, job);
  }

  sendOffer(job: Job, { attempt, to }: OfferedEvent): void {
    this.#context.link.offer(job, attempt, to);
  }

  sendGrant(job: Job, { attempt, to }: GrantedEvent): void {
    this.#context.link.grant(job, attempt, to);
  }

  /** Gives the worker no offers until its next heartbeat. */
  stopOffers({ attempt }: Job): void {
    attempt?.worker.stopOffers();
  }

  /** Ends the attempt of an offer that the worker has not accepted. The attempt does not count. */
  takeBackOffer(job: Job): void {
    this.#context.jobs.endAttempt(job);
    job.recordRefusal();
  }

  beginAnswer(job: Job, _: JobEvent, now: number): void {
    job.beginAnswer(now);
  }

  keepAlive(job: Job, _: JobEvent, now: number): void {
    job.keepAlive(now);
  }

  /** Ends a job after the client has got the whole answer. */
  complete(job: Job, { end }: EndedEvent, now: number): void {
    job.complete(end);
    if (job.attempt) this.#context.judge.recordServed(job, job.attempt, now);
    this.#release(job);
  }

  /** Counts the failure against the worker, and records whether another worker may serve the job. */
  judgeWorker(job: Job, { error, isUnbegun = false }: FailureEvent, now: number): void {
    const { attempt } = job;
    if (!attempt) return;
    attempt.verdict = this.#context.judge.recordFailure(job, attempt, error, isUnbegun, now);
  }

  /** Counts a job that the worker itself returns. The loss of a worker does not count. */
  countReturn({ attempt }: Job, { isReturned = false }: FailureEvent, now: number): void {
    if (attempt && isReturned) this.#context.judge.recordReturn(attempt, now);
  }

  /** Cancels the attempt at its worker, if there is one. */
  cancelAttempt(job: Job): void {
    this.#context.link.cancel(job);
  }

  avoidWorker(job: Job): void {
    job.avoidWorker(job.attempt?.verdict?.isBlamed === true);
  }

  /** Ends the attempt of a worker that has failed or is lost. */
  loseAttempt(job: Job, { error }: FailureEvent): void {
    this.#context.jobs.endAttempt(job);
    job.recordLoss(error);
    const { attempts: attempt, traceId, hasBegun: continues, request } = job;
    const facts = { requestId: request.requestId, traceId, attempt, reason: error.code, continues };
    this.#context.log.warn(facts, 'job goes to another worker');
  }

  /** Asks the worker for the missing frames. An answer is also a sign of life. */
  requestFrames(job: Job, _: JobEvent, now: number): void {
    this.#context.link.requestFrames(job, now);
  }

  /** Records that the worker has died with the job, see `WorkerDeaths`. */
  recordDeath(job: Job, _: JobEvent, now: number): void {
    if (job.attempt) this.#context.deaths.record(job, job.attempt, now);
  }

  /**
   * Checks whether the earlier worker that died with the job is really dead. If so, the job ends. Otherwise the death of the present worker
   * counts as the first death. During the check, the job stays with the present worker.
   */
  checkEarlierDeath(job: Job, event: FailureEvent, now: number): void {
    const { attempt, death } = job;
    if (!attempt || !death) return;
    const { deaths, checks, raise } = this.#context;
    const { worker } = attempt;
    const { lastFrameAt } = worker;
    checks.start(job, death, {
      isWanted: () => !job.isOver && job.attempt === attempt && worker.lastFrameAt === lastFrameAt,
      isRefuted: () => !deaths.hasDeath(job, performance.now()),
      onVerdict: (hasDied) => {
        if (!hasDied) job.clearDeath();
        raise(job, hasDied ? { type: 'abandoned', error: deaths.recordSecondDeath(job, death, attempt, now) } : event);
      },
    });
  }

  maintainTickets(job: Job, _: JobEvent, now: number): void {
    this.#queue.maintain(job, now);
  }

  reviewTickets(job: Job): void {
    this.#queue.tickets.review(job);
  }

  cancel(job: Job): void {
    job.cancel();
    this.#release(job);
  }

  /** Ends the job with the event's error, and passes the error to the sink. */
  fail(job: Job, event: FailureEvent): void {
    this.#fail(job, markEffects(job, event));
  }

  /** Ends a job whose body is refused because of other requests. */
  failAsRefused(job: Job): void {
    this.#fail(job, createRefusal());
  }

  failContinuation(job: Job, { error, failure }: FailureEvent): void {
    const { requestId } = job.request;
    const facts = { requestId, traceId: job.traceId, worker: job.attempt?.worker.id, failure, reason: error.message };
    this.#context.log.warn(facts, 'a stream cannot continue');
    this.#fail(job, new RouterError('worker_lost', error.message), failure);
  }

  #fail(job: Job, error: RouterError, failure?: FailureEvent['failure']): void {
    const lossError = job.continuation?.lossError;
    const clientError = lossError && !unmaskedErrors.has(error.code) ? lossError : error;
    job.fail(clientError, failure);
    this.#release(job);
    job.sink.fail(clientError);
  }

  #release(job: Job): void {
    this.#context.jobs.delete(job);
    job.tickets.withdrawAll();
  }
}

/** Marks the error of a tool call that a worker may have begun, because the tool may have had effects. A worker marks its own errors. */
function markEffects({ request, attempt }: Job, { error, isReported, isUnbegun }: FailureEvent): RouterError {
  const mayHaveBegun = attempt !== undefined && isReported !== true && isUnbegun !== true;
  return request.operation === 'execute_tool' && mayHaveBegun ? error.withEffects() : error;
}
