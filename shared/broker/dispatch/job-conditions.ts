import type { WorkerDeaths } from './deaths/worker-deaths.ts';
import { maxHeartbeatIntervalMs, mayHaveHadJob } from './deaths/death.ts';
import type { Job } from './job.ts';
import type { FailureEvent, JobEvent } from './job-event.ts';

/** The conditions of `jobLife`. None of them changes anything. */
export class JobConditions {
  readonly #deaths: WorkerDeaths;
  readonly #maxAttempts: number;

  constructor(deaths: WorkerDeaths, maxAttempts: number) {
    this.#deaths = deaths;
    this.#maxAttempts = maxAttempts;
  }

  /** The worker may still refuse the offer: it has confirmed nothing. */
  isOfferOpen({ attempt }: Job): boolean {
    return attempt?.isOffered === true && !attempt.isConfirmed;
  }

  /** The client has got nothing, or the stream can continue on another worker. `mayMove` has further conditions. */
  canMove({ canMove }: Job): boolean {
    return canMove;
  }

  /**
   * The job may go to another worker: it can move, has attempts left, and is no tool call that a worker may have begun, because a tool must
   * not run twice. A death costs no attempt.
   */
  mayMove(job: Job, { isUnbegun = false }: FailureEvent): boolean {
    const countedAttempts = job.death ? job.attempts - 1 : job.attempts;
    return (
      job.canMove && (isUnbegun || job.request.operation !== 'execute_tool') && countedAttempts < this.#maxAttempts
    );
  }

  /** Another worker can serve the job now. */
  canOthersServe(job: Job): boolean {
    const workersToAvoid = new Set(job.workersToAvoid);
    if (job.attempt) workersToAvoid.add(job.attempt.worker.id);
    return job.findPlacements(workersToAvoid).length > 0;
  }

  /** Another worker may avoid the failure of the attempt, see `OutcomeJudge`. */
  isMovable({ attempt }: Job): boolean {
    return attempt?.verdict?.isMovable === true;
  }

  /** The worker reports that it cannot continue the stream of a lost worker. */
  cannotContinue(_: Job, { failure }: FailureEvent): boolean {
    return failure !== undefined;
  }

  /** An earlier worker has died with the job, and the job has not yet run long enough since then to be cleared. */
  hasEarlierDeath(job: Job, _: JobEvent, now: number): boolean {
    return this.#deaths.hasDeath(job, now);
  }

  hasNoEarlierDeath(job: Job, _: JobEvent, now: number): boolean {
    return !this.#deaths.hasDeath(job, now);
  }

  /** The dead worker can hardly have accepted the job, which was only offered to it. */
  neverHadJob({ attempt }: Job, { evidence }: FailureEvent): boolean {
    return attempt !== undefined && !mayHaveHadJob(attempt, evidence);
  }

  /** Two workers have died on the same body in another request of the same owner. */
  isBodyRefused(job: Job): boolean {
    return this.#deaths.isBodyRefused(job);
  }

  /** The worker may have accepted the offer, and sends no heartbeats either, while heartbeats of other workers come. */
  isSilent({ attempt }: Job, _: JobEvent, now: number): boolean {
    if (!attempt || now - attempt.worker.lastHeartbeatAt <= maxHeartbeatIntervalMs) return false;
    return mayHaveHadJob(attempt) && this.#deaths.areHeartbeatsDelivered(now);
  }

  /** The worker has not answered the last request for frames, so it may be dead. */
  hasNotJustAnswered({ attempt }: Job, _: JobEvent, now: number): boolean {
    return attempt?.hasJustAnswered(now) === false;
  }

  hasNoTicket({ tickets }: Job): boolean {
    return tickets.placed.size === 0;
  }
}
