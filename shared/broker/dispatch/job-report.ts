import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Attempt } from './attempt.ts';
import type { ContinuationOutcome } from './continuation/stream-continuation.ts';
import type { JobState } from './job-state.ts';
import type { AttemptTimes } from './job-timeline.ts';

/** Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  moves: readonly ErrorCode[];
  continuations: readonly ContinuationOutcome[];
  queuedAt: number;
  /** When the worker that gave the first byte claimed the job; if there was no byte, the last worker that had it. */
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  /** The attempt that the job ended in; undefined if no worker had the job then. */
  attempt: Pick<Attempt, 'worker' | 'placement'> | undefined;
  /** The attempts and refused offers, oldest first. If there were many, only the first ones and the last. */
  timeline: readonly AttemptTimes[];
  answerBytes: number;
  end: JobEnd | undefined;
  error: RouterError | undefined;
}
