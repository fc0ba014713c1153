import { RouterError } from '#shared/core/errors.ts';
import type { Attempt } from '../attempt.ts';
import type { LiveWorker } from '../workers/live-worker.ts';

/**
 * Milliseconds between two heartbeats, plus a margin. If a dead worker's last heartbeat came longer than this before an offer, the worker
 * was dead when the job was offered.
 */
export const maxHeartbeatIntervalMs = 1_100;

/** The death of a worker that had a job. */
export interface Death {
  worker: LiveWorker;
  /** The grant of the job's attempt. */
  grant: string;
  /** When the worker died, in milliseconds of `performance.now()`. */
  diedAt: number;
  /** Milliseconds from the grant or offer to the death. */
  afterMs: number;
  /** The digest of the job's body, see `computeBodyDigest`. */
  digest: string;
  /** Whether the job's body may have killed the worker, see `mayHaveKilled`. */
  isSuspect: boolean;
}

/** The evidence of a worker's death besides its silence: its connection is closed, or another process has replaced it. */
export type DeathEvidence = 'closed' | 'replaced' | undefined;

/**
 * Whether a dead worker may have had the job: the worker has claimed the job, has sent a frame, or was alive when the job was offered. An
 * offer to a worker whose connection is closed never arrives: the broker refuses or loses it.
 * @param evidence the evidence of the death. A worker with such evidence can no longer begin a job that it has not confirmed
 */
export function mayHaveHadJob(attempt: Attempt, evidence?: DeathEvidence): boolean {
  const { isOffered, hasSentFrame, isConfirmed, assignedAt, worker } = attempt;
  if (!isOffered || isConfirmed) return true;
  if (evidence) return false;
  return hasSentFrame || assignedAt < worker.lastHeartbeatAt + maxHeartbeatIntervalMs;
}

/** A job that its worker has had for this many milliseconds is no more suspicious than the worker's other jobs. */
const maxBeginMs = 10_000;

/** Whether a job may have killed its worker: the worker died soon after it had got the job. */
export function mayHaveKilled({ assignedAt }: Attempt, now: number): boolean {
  return now - assignedAt < maxBeginMs;
}

/** The error of a job whose worker is lost. */
export function createLossError(message = 'The worker was lost in the middle of the answer.'): RouterError {
  return new RouterError('worker_lost', message);
}
