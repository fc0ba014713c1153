import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import type { JobRequest } from '../job-request.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import { mayHaveKilled, type Death } from './death.ts';
import { computeBodyDigest, RefusedBodies } from './refused-bodies.ts';

/** If every worker's last heartbeat is older than this many milliseconds, the broker probably delivers no heartbeats. */
const maxDeliveryGapMs = 1_000;

/**
 * Counts, for each job, the workers that have died while they had the job. If two workers have died, the job ends with `workers_died`. If
 * both died soon after they had got it, its body is refused for ten minutes. Losses of workers that did not die do not count.
 */
export class WorkerDeaths {
  readonly #workers: Pick<LiveWorkers, 'get' | 'workers'>;
  readonly #log: Logger;
  readonly #refusedBodies: RefusedBodies;

  constructor(broker: Broker, workers: Pick<LiveWorkers, 'get' | 'workers'>, log: Logger) {
    this.#workers = workers;
    this.#log = log;
    this.#refusedBodies = new RefusedBodies(broker);
  }

  close(): void {
    this.#refusedBodies.close();
  }

  /** Returns the error for a request on whose body two workers have died; undefined for other requests. */
  findRefusal(request: JobRequest, body: Buffer): RouterError | undefined {
    return this.#refusedBodies.has(request, body) ? createRefusal() : undefined;
  }

  /**
   * Whether a worker has died with this job. A recorded death does not count if the worker has returned, after a silence or a closed
   * connection: its heartbeats then show that it lived after the recorded time. A recorded death does not count either if the stream has
   * run on another worker for a while since, because then the stream has not caused the death.
   */
  hasDeath({ death, continuation }: Job, now: number): boolean {
    if (!death || continuation?.isCleared(now) === true) return false;
    const { id, announcement } = death.worker;
    const current = this.#workers.get(id);
    return current?.announcement.startedAt !== announcement.startedAt || current.provenAliveAt <= death.diedAt;
  }

  /** Whether the heartbeats of any worker arrive now. If no heartbeats arrive, the silence of one worker proves nothing. */
  areHeartbeatsDelivered(now: number): boolean {
    for (const { lastHeartbeatAt } of this.#workers.workers())
      if (now - lastHeartbeatAt < maxDeliveryGapMs) return true;
    return false;
  }

  /** Whether two workers have died on the same body of another request, so that this job must not get a second worker. */
  isBodyRefused({ canMove, body, request }: Job): boolean {
    return canMove && body !== undefined && this.#refusedBodies.has(request, body);
  }

  /**
   * Records that a worker has died with a job. Does nothing if the client has got a part of an answer that cannot continue: such a job ends
   * for that reason, and is not quarantined.
   */
  record(job: Job, attempt: Attempt, now: number): void {
    const { worker, grant, assignedAt } = attempt;
    const { canMove, death, body, request, traceId } = job;
    const digest = death?.digest ?? (body && computeBodyDigest(request, body));
    if (!canMove || digest === undefined) return;
    const isSuspect = mayHaveKilled(attempt, now);
    job.recordDeath({ worker, grant, diedAt: now, afterMs: now - assignedAt, digest, isSuspect });
    this.#log.warn(
      { requestId: request.requestId, traceId, worker: worker.id, digest },
      'a worker died with a request',
    );
  }

  /**
   * Records that a second worker has died with a job. Refuses the job's body from now on if it may have killed both workers.
   * @param now when the second worker died, in milliseconds of `performance.now()`
   * @returns the error with which the job ends
   */
  recordSecondDeath({ request, traceId }: Job, first: Death, attempt: Attempt, now: number): RouterError {
    const { requestId } = request;
    const { digest } = first;
    const isRefused = first.isSuspect && mayHaveKilled(attempt, now);
    if (isRefused) this.#refusedBodies.refuse(digest);
    const workers = [first.worker.id, attempt.worker.id];
    const consequence = isRefused ? ', which is refused now' : '';
    this.#log.error({ requestId, traceId, workers, digest }, `two workers died with a request${consequence}`);
    return new RouterError('workers_died', 'Two workers died while they served this request.');
  }
}

/** The error of a request whose body is refused. */
export function createRefusal(): RouterError {
  return new RouterError(
    'workers_died',
    'Two workers died on this request in the last ten minutes. It is refused now.',
  );
}
