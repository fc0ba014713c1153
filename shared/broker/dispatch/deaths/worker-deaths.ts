import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import type { JobRequest } from '../job-request.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import type { Death } from './death.ts';
import { digestOf, RefusedBodies } from './refused-bodies.ts';

/** Milliseconds since the last heartbeat of any worker, up to which the broker delivers them. */
const deliveredMs = 1_000;

/**
 * Counts for each job how many workers have died while they had it. Whoever has a job that kills its worker loses two of them:
 * the job ends with `workers_died`, and its body is refused for a while. Other losses do not count.
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

  /** The error of a request that two workers have died on already. */
  refusalOf(request: JobRequest, body: Buffer): RouterError | undefined {
    return this.#refused.has(request, body) ? refused() : undefined;
  }

  /**
   * Whether a worker has died with this job. One whose connection was closed, or that was silent, may have come back: then its
   * heartbeats show that it lived afterwards.
   */
  hasOne({ death }: Job): boolean {
    if (!death) return false;
    const { id, announcement } = death.worker;
    const known = this.#workers.get(id);
    return known?.announcement.startedAt !== announcement.startedAt || known.life.provenAt <= death.at;
  }

  /** Whether the heartbeats of any worker come now: otherwise the silence of one says nothing about it. */
  areHeartbeatsDelivered(now: number): boolean {
    for (const { lastHeartbeatAt } of this.#workers.workers()) if (now - lastHeartbeatAt < deliveredMs) return true;
    return false;
  }

  /**
   * Counts the first death of a worker that had a job.
   * @returns the error that the job ends with when it must not take another worker
   */
  count(job: Job, { worker, grant, claimedAt }: Attempt, now = performance.now()): RouterError | undefined {
    const { canMove, death, body, request, traceId } = job;
    // It has put out a part of its answer that cannot be continued, ends for that reason, and is no suspect.
    if (!canMove) return undefined;
    const digest = death?.digest ?? (body && digestOf(request, body));
    if (digest === undefined) return undefined;
    job.diedWith({ worker, grant, at: now, afterMs: now - claimedAt, digest });
    this.#log.warn(
      { requestId: request.requestId, traceId, worker: worker.id, digest },
      'a worker died with a request',
    );
    return this.#refused.hasDigest(digest) ? refused() : undefined;
  }

  /** A second worker has died with a job: refuses its body. @returns the error that the job ends with */
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
