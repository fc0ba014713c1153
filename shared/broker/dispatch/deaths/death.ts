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

/** What is known of a worker's death besides that it is silent. */
export type EndOfWorker = 'closed' | 'replaced' | undefined;

/**
 * Whether the worker that died may have had the job: it claimed it, has sent a frame, or was alive when it was offered. An offer to
 * a worker whose connection is closed is refused by the broker, or lost when the broker does not know that yet.
 * @param end known when the worker's connection is closed, or another process has taken its place. Then it does not begin later what
 * it has not confirmed
 */
export function hadTaken(attempt: Attempt, end?: EndOfWorker): boolean {
  const { isOffered, hasBegun, isConfirmed, claimedAt, worker } = attempt;
  if (!isOffered || isConfirmed) return true;
  if (end && worker.announcement.confirms) return false;
  return hasBegun || end !== undefined || claimedAt < worker.lastHeartbeatAt + heartbeatMs;
}
