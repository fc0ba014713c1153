import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import type { JobRequest } from '../job-request.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import type { Death } from './death.ts';
import { computeBodyDigest, RefusedBodies } from './refused-bodies.ts';

/** Maximum milliseconds since the last heartbeat of any worker for which the broker counts as delivering heartbeats. */
const deliveredMs = 1_000;

/**
 * Counts, for each job, the workers that have died while they had it. If two workers die, the job ends with `workers_died`, and its body
 * is refused for ten minutes. Other losses do not count.
 */
export class WorkerDeaths {
  readonly #workers: Pick<LiveWorkers, 'get' | 'workers'>;
  readonly #log: Logger;
  readonly #refused: RefusedBodies;

  constructor(broker: Broker, workers: Pick<LiveWorkers, 'get' | 'workers'>, log: Logger) {
    this.#workers = workers;
    this.#log = log;
    this.#refused = new RefusedBodies(broker);
  }

  close(): void {
    this.#refused.close();
  }

  /** Returns the error of a request on whose body two workers have died already; undefined for other requests. */
  checkRefused(request: JobRequest, body: Buffer): RouterError | undefined {
    return this.#refused.has(request, body) ? refused() : undefined;
  }

  /**
   * Whether a worker has died with this job. A worker whose connection was closed, or that was silent, may have returned. Its heartbeats
   * then show that it lived afterwards.
   */
  hasDeath({ death }: Job): boolean {
    if (!death) return false;
    const { id, announcement } = death.worker;
    const known = this.#workers.get(id);
    return known?.announcement.startedAt !== announcement.startedAt || known.proofOfLife.provenAt <= death.at;
  }

  /** Whether heartbeats of any worker arrive now. If none do, the silence of one worker proves nothing. */
  areHeartbeatsDelivered(now: number): boolean {
    for (const { lastHeartbeatAt } of this.#workers.workers()) if (now - lastHeartbeatAt < deliveredMs) return true;
    return false;
  }

  /**
   * Counts the first death of a worker that had a job.
   * @returns the error that the job ends with if it must not go to another worker
   */
  count(job: Job, { worker, grant, claimedAt }: Attempt, now = performance.now()): RouterError | undefined {
    const { canMove, death, body, request, traceId } = job;
    // The job has put out a part of an answer that cannot continue. It ends for that reason and is not quarantined.
    if (!canMove) return undefined;
    const digest = death?.digest ?? (body && computeBodyDigest(request, body));
    if (digest === undefined) return undefined;
    job.recordDeath({ worker, grant, at: now, afterMs: now - claimedAt, digest });
    this.#log.warn(
      { requestId: request.requestId, traceId, worker: worker.id, digest },
      'a worker died with a request',
    );
    return this.#refused.hasDigest(digest) ? refused() : undefined;
  }

  /**
   * Counts the second death and refuses the job's body from now on.
   * @returns the error that the job ends with
   */
  countSecond({ request, traceId }: Job, { worker: first, digest }: Death, { worker }: Attempt): RouterError {
    const { requestId } = request;
    this.#refused.refuse(digest);
    const workers = [first.id, worker.id];
    this.#log.error({ requestId, traceId, workers, digest }, 'two workers died with a request, which is refused now');
    return new RouterError('workers_died', 'Two workers died while they served this request.');
  }
}

function refused(): RouterError {
  return new RouterError(
    'workers_died',
    'Two workers died on this request in the last ten minutes. It is refused now.',
  );
}
