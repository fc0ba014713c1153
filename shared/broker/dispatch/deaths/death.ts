import type { Attempt } from '../attempt.ts';
import type { LiveWorker } from '../workers/live-pool.ts';

/**
 * Milliseconds between two heartbeats, plus a margin. If an offer was made later than this after the last heartbeat, its worker was dead
 * already.
 */
export const maxHeartbeatIntervalMs = 1_100;

export interface Death {
  worker: LiveWorker;
  grant: string;
  /** When the worker died, in milliseconds of `performance.now()`. */
  at: number;
  afterMs: number;
  /** The digest of the job's body, see `computeBodyDigest`. */
  digest: string;
}

/** The evidence of a worker's death besides its silence: its connection is closed, or another process has replaced it. */
export type DeathEvidence = 'closed' | 'replaced' | undefined;

/**
 * Whether the dead worker may have had the job, because it claimed the job, has sent a frame, or was alive when the job was offered. The
 * broker refuses an offer to a worker whose connection is closed, or loses it if it has not noticed that yet.
 * @param end evidence that the worker's connection is closed, or that another process has replaced it. Such a worker does not begin later
 * what it has not confirmed
 */
export function mayHaveTaken(attempt: Attempt, end?: DeathEvidence): boolean {
  const { isOffered, hasBegun, isConfirmed, claimedAt, worker } = attempt;
  if (!isOffered || isConfirmed) return true;
  if (end) return false;
  return hasBegun || claimedAt < worker.lastHeartbeatAt + maxHeartbeatIntervalMs;
}
