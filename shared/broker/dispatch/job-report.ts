import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Attempt } from './attempt.ts';
import type { ContinuationOutcome } from './continuation/stream-continuation.ts';
import type { JobState } from './job-event.ts';

/** One ended attempt of a job. Times are milliseconds of `performance.now()`. */
export interface AttemptTimes {
  worker: string;
  /** Whether the job was offered; otherwise it was claimed. */
  isOffered: boolean;
  /** When the wait for this attempt began. */
  waitingSince: number;
  /** When the job was granted or offered. */
  assignedAt: number;
  /** When the first frame came, which shows that the worker has the job; undefined if no frame came. */
  begunAt: number | undefined;
  /** When the first piece or the end of the answer came, whichever came first; undefined if neither came. */
  firstDataAt: number | undefined;
  endedAt: number;
  /** How the attempt ended: `done`, `cancelled`, `refused` for a refused offer, or the code of an error. */
  end: string;
}

/** The course and outcome of an ended job. Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  /** The errors after which the job went to another worker, oldest first. */
  moves: readonly ErrorCode[];
  continuations: readonly ContinuationOutcome[];
  queuedAt: number;
  /** When the job was granted or offered to the worker that gave the first byte; without a byte, to the last worker that had the job. */
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  /** The attempt in which the job ended; undefined if no worker had the job at that time. */
  attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
  /** The attempts and refused offers, oldest first. Of many, only the first few and the last one are kept. */
  timeline: readonly AttemptTimes[];
  answerBytes: number;
  end: JobEnd | undefined;
  error: RouterError | undefined;
}
