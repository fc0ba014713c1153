import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Attempt } from './attempt.ts';
import type { ContinuationOutcome } from './continuation/stream-continuation.ts';
import type { JobState } from './job-state.ts';
import type { AttemptTimes } from './job-timeline.ts';

/** How a job went. Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  /** Why it was taken from a worker and given to another one, each time. */
  moves: readonly ErrorCode[];
  /** What came of it, each time that its stream lost its worker in its middle. */
  continuations: readonly ContinuationOutcome[];
  queuedAt: number;
  /** By the worker that gave the first byte, or the last one that had it. */
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  /** The attempt that it ended in; undefined when no worker had the job then. */
  attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
  /** Its attempts, refused offers among them, oldest first; of many, the first ones and the last. */
  timeline: readonly AttemptTimes[];
  /** Bytes of the answer, of all attempts. */
  answerBytes: number;
  /** As its worker said it. */
  end: JobEnd | undefined;
  error: RouterError | undefined;
}
