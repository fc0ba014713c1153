import type { Attempt } from '../attempt.ts';
import type { LiveWorker } from '../workers/live-pool.ts';

/** Milliseconds between two heartbeats, and a margin: an offer made later after the last one found its worker dead already. */
export const heartbeatMs = 1_100;

/** The death of a worker, as one of the jobs that it had remembers it. */
export interface Death {
  worker: LiveWorker;
  /** The grant that it had the job by. */
  grant: string;
  /** In milliseconds of `performance.now()`. */
  at: number;
  /** Milliseconds for which the worker had the job. */
  afterMs: number;
  /** Of the job's body, see `digestOf`. */
  digest: string;
}

/**
 * Whether the worker that died had taken the job: it claimed it, has sent a frame, or was alive when it was offered. An offer to
 * a worker whose connection is closed is refused by the broker.
 */
export function hadTaken({ isOffered, hasBegun, claimedAt, worker }: Attempt): boolean {
  return !isOffered || hasBegun || claimedAt < worker.lastHeartbeatAt + heartbeatMs;
}
